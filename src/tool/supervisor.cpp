// SPDX-License-Identifier: Apache-2.0
// Decides how a launcher reacts to the end of a rank. Touches no process.
#include "tool/supervisor.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace nacre::tool {
namespace {

constexpr int signal_code_base = 128;  // as shells do
constexpr int failure_code = 1;

int code_of(const ending& ending) noexcept {
  if (ending.cause == ending::kind::lost) return failure_code;
  return ending.cause == ending::kind::killed ? signal_code_base + ending.number : ending.number;
}

bool is_death(const ending& ending) noexcept {
  return ending.cause == ending::kind::lost || (ending.cause == ending::kind::killed && ending.number != SIGXFSZ);
}

int signal_of(const ending& ending) noexcept { return ending.cause == ending::kind::killed ? ending.number : 0; }

double seconds_of(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::string describe(const ending& ending) {
  if (ending.cause == ending::kind::exited) return fmt::format("exited with code {}", ending.number);
  if (ending.cause == ending::kind::lost) return "was lost: the connection to its host has ended";
  return fmt::format("was killed by signal {} ({})", ending.number, ::strsignal(ending.number));
}

supervisor::supervisor(std::uint32_t ranks, const supervisor_times& times)
    : times_(times), ranks_(ranks), running_(ranks) {}

template <class Change>
void supervisor::change(std::uint32_t rank, Change to) {
  rank_state& state = ranks_[rank];
  waiting_ -= state.waits_for_others() ? 1 : 0;
  to(state);
  waiting_ += state.waits_for_others() ? 1 : 0;
}

void supervisor::joined(std::uint32_t rank) {
  change(rank, [](rank_state& state) { state.joined = true; });
}

void supervisor::left(std::uint32_t rank) {
  change(rank, [](rank_state& state) { state.left = true; });
}

void supervisor::lost(std::uint32_t reporter, std::uint32_t peer, std::string reason, time_point now) {
  ranks_[reporter].reported_loss = true;
  blame(peer, std::move(reason), now);
}

void supervisor::disconnected(std::uint32_t rank, time_point now) {
  if (!ranks_[rank].left) blame(rank, "ended without a shutdown", now);
}

void supervisor::blame(std::uint32_t rank, std::string reason, time_point now) {
  if (suspicion_ || ending_) return;
  suspicion_ = suspicion{.rank = rank, .reason = std::move(reason), .until = now + times_.blame};
}

void supervisor::ended(std::uint32_t rank, ending ending) {
  change(rank, [&](rank_state& state) { state.end = ending; });
  --running_;
  if (!blamed_unseen_) return;
  // A host that falls silent: peers of its ranks notice it before its agent's connection ends.
  const bool host_lost = ending.cause == ending::kind::lost;
  const bool was_killed =
      ending.cause == ending::kind::killed && is_death(ending) && rank == cause_->rank && ending_->terminate_at;
  if (!host_lost && !was_killed) return;
  by_death_ = true;
  blamed_unseen_ = false;
  cause_ = cause{.rank = rank, .host_lost = host_lost, .signal = signal_of(ending)};
}

void supervisor::interrupted(int signal, time_point now) {
  if (ending_) {
    ending_->kill_at = now;
    if (signal == image_signal_ && !is_stopped()) image_until_ = now;  // the job goes on later, from an image before
    interrupted_in_end_ = true;
    return;
  }
  if (image_until_) return give_up_image("a second signal came before the image", now);
  const bool any_joined = std::ranges::any_of(ranks_, &rank_state::joined);
  if (signal == image_signal_) image_until_ = now + image_grace_;
  if (signal == image_signal_ && any_joined) {
    orders_.ask_for_image = signal;
    orders_.line = fmt::format(
        "nacre run: {}: an image is awaited for at most {} s, and the job ends behind it; a second signal ends it",
        ::strsignal(signal), seconds_of(image_grace_));
    return;
  }
  interrupted_by_ = signal;
  orders_.signals.push_back(signal);
  ending_ = final_phase{.terminate_at = std::nullopt, .kill_at = now + times_.shutdown};
}

void supervisor::give_up_image(const std::string& reason, time_point now) {
  interrupted_by_ = image_signal_;
  orders_.line = fmt::format("nacre run: {}; ending the job", reason);
  ending_ = final_phase{.terminate_at = std::nullopt, .kill_at = now};
}

orders supervisor::decide(time_point now) {
  if (!ending_) find_cause(now);
  if (!ending_ && image_until_ && now >= *image_until_ && running_ > 0)
    give_up_image(fmt::format("no image came within {} s", seconds_of(image_grace_)), now);
  if (ending_) press(now);
  return std::exchange(orders_, {});
}

/// Why the job cannot go on after the rank's end, as a clause; nullopt if the end is no fault.
std::optional<std::string> supervisor::fault_of(std::uint32_t rank) const {
  const rank_state& state = ranks_[rank];
  if (!state.end) return std::nullopt;
  if (state.end->cause != ending::kind::exited) return describe(*state.end);
  if (state.left || state.reported_loss) return std::nullopt;
  if (state.end->number != 0) return describe(*state.end);
  if (state.joined && ranks_.size() > 1) return describe(*state.end) + " before the job was over";
  if (!state.joined && waiting_ != 0) return describe(*state.end) + " without joining the job";
  return std::nullopt;
}

/// The rank that the line names: the first that was killed, otherwise the first that exited with a fault.
std::optional<std::uint32_t> supervisor::culprit() const {
  std::optional<std::uint32_t> named_rank;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!fault_of(rank)) continue;
    if (ranks_[rank].end->cause != ending::kind::exited) return rank;
    if (!named_rank) named_rank = rank;
  }
  return named_rank;
}

void supervisor::find_cause(time_point now) {
  if (suspicion_) {
    if (const auto fault = fault_of(suspicion_->rank)) {
      return end_job(suspicion_->rank, *fault, code_of(*ranks_[suspicion_->rank].end), now);
    }
    if (now < suspicion_->until && running_ > 0) return;  // with no rank left there is nothing to wait for
  }
  if (const auto rank = culprit()) return end_job(*rank, *fault_of(*rank), code_of(*ranks_[*rank].end), now);
  if (suspicion_) end_job(suspicion_->rank, suspicion_->reason, failure_code, now);
}

void supervisor::end_job(std::uint32_t rank, const std::string& reason, int code, time_point now) {
  exit_code_ = code == 0 ? failure_code : code;
  // Tests whether others have left, not whether they run: their processes may have ended in the same moment.
  const auto all_left = std::all_of(ranks_.begin(), ranks_.end(),
                                    [&](const rank_state& each) { return each.left || &each == &ranks_[rank]; });
  const std::string place = hosts_.empty() ? "" : fmt::format(" on {}", hosts_[rank]);
  orders_.line = fmt::format("nacre run: rank {}{} {}{}", rank, place, reason, all_left ? "" : "; ending the job");
  orders_.announce = announcement{.peer = rank, .reason = reason};
  const std::optional<ending>& end = ranks_[rank].end;
  blamed_unseen_ = !end;
  by_death_ = end && is_death(*end);
  cause_ =
      cause{.rank = rank, .host_lost = end && end->cause == ending::kind::lost, .signal = end ? signal_of(*end) : 0};
  ending_ = final_phase{.terminate_at = now + times_.grace, .kill_at = now + times_.force};
  if (by_death_ && (goes_on_ || image_until_)) ending_ = final_phase{.terminate_at = std::nullopt, .kill_at = now};
}

void supervisor::press(time_point now) {
  if (running_ == 0) return;
  if (ending_->terminate_at && now >= *ending_->terminate_at) {
    ending_->terminate_at.reset();
    orders_.signals.push_back(SIGTERM);
  }
  if (ending_->kill_at && now >= *ending_->kill_at) {
    ending_->kill_at.reset();
    orders_.signals.push_back(SIGKILL);
  }
}

std::optional<time_point> supervisor::due() const {
  if (ending_) return ending_->terminate_at ? ending_->terminate_at : ending_->kill_at;
  if (suspicion_ && image_until_) return std::min(suspicion_->until, *image_until_);
  if (suspicion_) return suspicion_->until;
  return image_until_;
}

int supervisor::exit_code() const {
  if (exit_code_ != 0) return exit_code_;
  const rank_state* failed = nullptr;
  for (const rank_state& each : ranks_) {
    if (!each.end || code_of(*each.end) == 0) continue;
    const bool consequence = each.reported_loss || each.end->cause != ending::kind::exited;
    if (!interrupted_by_ || !consequence) return code_of(*each.end);
    failed = &each;
  }
  return failed == nullptr ? 0 : signal_code_base + *interrupted_by_;
}

}  // namespace nacre::tool
