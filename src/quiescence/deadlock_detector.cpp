// SPDX-License-Identifier: Apache-2.0
// The steps of the waves that look for a deadlock.
#include "quiescence/deadlock_detector.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::quiescence {
namespace {

constexpr std::uint32_t waves_in_half = ~std::uint32_t{0} / 2;  // wave numbers wrap around; half of them count as later
constexpr int looks_in_patience = 4;
constexpr std::chrono::milliseconds first_pause{2};
constexpr std::chrono::milliseconds longest_pause{1000};

}  // namespace

deadlock_detector::deadlock_detector(const options& options)
    : self_(options.self),
      size_(options.size),
      arity_(options.arity),
      patience_(options.patience),
      wave_(options.previous_number),
      due_(options.started + options.patience / looks_in_patience) {
  NACRE_EXPECT(options.self.value() < options.size, "a rank's number is below the number of ranks");
  NACRE_EXPECT(options.arity >= 1 && options.arity < 32, "children have a bit each");
  const std::uint64_t first = std::uint64_t{self_.value()} * arity_ + 1;
  if (first < size_) children_count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(size_ - first, arity_));
}

bool deadlock_detector::on_probe(rank_id source, std::uint32_t wave, bool names) {
  const std::uint32_t later = wave - wave_;
  if (is_root() || source != parent() || looking_ || collecting_ || later == 0 || later > waves_in_half) return false;
  wave_ = wave;
  names_ = names;
  looking_ = true;
  return true;
}

bool deadlock_detector::on_answer(host& host, rank_id source, std::uint32_t wave, const deadlock_report& sums) {
  const std::uint64_t first = std::uint64_t{self_.value()} * arity_ + 1;
  if (!collecting_ || wave != wave_ || source.value() < first || source.value() - first >= children_count_)
    return false;
  const child_set bit = child_set{1} << (source.value() - first);
  if ((missing_ & bit) == 0) return false;
  missing_ &= ~bit;
  sums_.add(sums);
  if (missing_ == 0) finish(host);
  return true;
}

void deadlock_detector::on_look(host& host, const snapshot& now) {
  if (collecting_ || (!looking_ && !is_root())) return;
  looking_ = false;
  const bool still = now.at_rest && last_look_ == now;
  last_look_ = now;
  if (!still && is_root()) return put_off(host);
  if (!now.at_rest) return host.send_answer(parent(), wave_, {});
  begin(host, still);
}

void deadlock_detector::hurry(std::chrono::nanoseconds now) {
  pause_ = first_pause;
  due_ = patience_.count() == 0 ? now + pause_ : std::min(due_, now + pause_);
}

/// Sets the time of the next look. Looks in a hurry become fewer, as the job may go on for long.
void deadlock_detector::look_later(std::chrono::nanoseconds now) {
  due_ = now + patience_ / looks_in_patience;
  if (pause_.count() == 0) return;
  due_ = patience_.count() == 0 ? now + pause_ : std::min(due_, now + pause_);
  pause_ = std::min<std::chrono::nanoseconds>(2 * pause_, longest_pause);
}

/// Rank 0 itself is not still, so it need not probe the others.
void deadlock_detector::put_off(host& host) {
  end_row(host);
  quiet_from_ = host.now();
  look_later(quiet_from_);
}

void deadlock_detector::begin(host& host, bool still) {
  if (is_root()) {
    ++wave_;
    began_ = host.now();
    names_ = patience_.count() != 0 && !told_ && since_ && began_ - *since_ >= patience_;
  }
  sums_ = names_ ? host.report_of_rank() : deadlock_report{};
  sums_.still = still;
  sums_.units = last_look_->units;
  sums_.running = last_look_->running;
  sums_.waiting = last_look_->waiting;
  sums_.held_up = last_look_->held_up;
  sums_.asked = last_look_->asked;
  collecting_ = true;
  missing_ = (child_set{1} << children_count_) - 1;
  for (std::uint32_t index = 0; index < children_count_; ++index) {
    host.send_probe(rank_id{self_.value() * arity_ + 1 + index}, wave_, names_);
  }
  if (missing_ == 0) finish(host);
}

void deadlock_detector::finish(host& host) {
  collecting_ = false;
  if (is_root()) return judge(host);
  host.send_answer(parent(), wave_, std::exchange(sums_, {}));
}

void deadlock_detector::judge(host& host) {
  const auto now = host.now();
  look_later(now);
  const std::uint64_t open = sums_.units.created - sums_.units.done;
  const bool is_awaited =
      sums_.asked != 0 || (sums_.running == 0 ? open != 0 : sums_.waiting != 0 || open > sums_.running);
  if (!sums_.still || (sums_.held_up == 0 && !is_awaited)) {
    end_row(host);
  } else if (sums_.running == 0 && sums_.held_up != 0) {
    host.give_up_waits();
    end_row(host);
  } else {
    if (!since_) since_ = quiet_from_;
    if (names_) {
      told_ = true;
      host.tell(sums_, began_ - *since_);
    }
    plan_next_wave(now);
  }
  quiet_from_ = now;
}

/// Within a row. There is a hurry only while some rank has what gives up when the last that runs has ended. What runs
/// may end, unlike a deadlock, so the end is looked for as often as the beginning.
void deadlock_detector::plan_next_wave(std::chrono::nanoseconds now) {
  if (sums_.held_up != 0) return;  // look_later has planned it
  pause_ = std::chrono::nanoseconds{0};
  if (patience_.count() == 0) return;
  due_ = now + (told_ && sums_.running == 0 ? patience_ : patience_ / looks_in_patience);
  if (!told_) due_ = std::max(now, std::min(due_, *since_ + patience_));
}

void deadlock_detector::end_row(host& host) {
  if (std::exchange(told_, false)) host.tell_going_on(host.now() - *since_);
  since_.reset();
}

}  // namespace nacre::quiescence
