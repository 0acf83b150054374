// SPDX-License-Identifier: Apache-2.0
// Writes blocks of events to the file.
#include "trace/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace nacre::trace {
void recorder::write_block() {
  if (position_ == nullptr || position_ == memory_.get()) return;
  const auto used = static_cast<std::size_t>(position_ - memory_.get());
  recording_.file.append(
      {.kind = block_kind::events, .rank = recording_.rank, .thread = thread_, .first_tick = block_begin_},
      std::span(memory_.get(), used));
}

void recorder::end_read() {
  if (left_ < room_min) make_room();
  const std::uint64_t now = recording_.now();
  if (few_.done != 0) settle(now);
  sends_.left = 0;
  if (const std::uint64_t key = std::exchange(few_.alone, 0); key != 0) {
    const std::uint64_t spent = now - std::min(now, few_.begun);
    if (const std::uint32_t several = share_of(spent); several > 1) {
      few_.next = few_.key = key;
      few_.spent = spent;
      few_.done = 1;
      few_.wanted = several;
      return;
    }
  }
  put(now, event_kind::end);
}

/// The number of handlers that share readings, the first included, when the first has taken `spent` ticks.
std::uint32_t recorder::share_of(std::uint64_t spent) noexcept {
  if (wary_ != 0) {
    --wary_;
    return 1;
  }
  if (spent >= recording_.short_ticks) return 1;
  if (spent * sharers_max <= recording_.short_ticks) return sharers_max;
  return static_cast<std::uint32_t>(recording_.short_ticks / spent);
}

/// Writes the end of the handlers that share readings. A handler that still runs shares no more. Its begin is set to
/// the tick at which the others would have ended if they were as short as the first.
void recorder::settle(std::uint64_t now) {
  if (few_.done == 1 && !few_.inside && few_.stolen == 0) {  // no handler has followed the first
    few_.done = 0;
    few_.next = 0;
    return put(few_.begun + few_.spent, event_kind::end);
  }
  const sharing was = std::exchange(few_, {});
  const std::uint64_t instant = was.inside ? std::min(now, was.begun + was.done * was.spent) : now;
  if (was.done == 1) {
    put(was.begun + was.spent, event_kind::end);
  } else {
    const bool hid_long_one = instant > was.begun && instant - was.begun > 8 * recording_.short_ticks;
    if (hid_long_one) wary_ = wary_next_;
    wary_next_ = hid_long_one ? std::min(2 * wary_next_, wary_max) : std::max(wary_next_ - wary_next_ / 16, wary_min);
    put(instant, hid_long_one ? event_kind::ends_of_last : event_kind::ends, std::uint64_t{was.done}, was.spent);
  }
  if (was.stolen != 0) put(instant, event_kind::steal, was.stolen, was.victim);
  if (was.inside) put(instant, static_cast<event_kind>(was.key & 0xff), was.key >> 8);
}

std::uint64_t recorder::instant_of_send() {
  const std::uint64_t now = recording_.now();
  const bool often = now - sends_.read < recording_.short_ticks;
  sends_ = {.read = now, .left = 0, .all = often ? std::min(2 * sends_.all + 1, sharers_max - 1) : sends_.all / 2};
  sends_.left = sends_.all;
  return now;
}

/// Records its own time in the trace, so that a reader does not take that for time of the program.
void recorder::make_room() {
  const std::uint64_t begin = recording_.now();
  if (few_.done != 0) settle(begin);
  few_.alone = 0;  // handlers that share readings stand in one block
  write_block();
  const bool first = memory_ == nullptr;
  if (first) {
    memory_ = std::make_unique<std::byte[]>(bytes_);
    last_ = begin;
  }
  position_ = memory_.get();
  left_ = bytes_;
  block_begin_ = last_;
  const std::uint64_t end = recording_.now();
  if (first || begin == end) return;
  put(begin, event_kind::write_begin);
  put(end, event_kind::end);
}

void recorder::finish() {
  if (few_.done != 0) settle(recording_.closed_at);
  write_block();
  position_ = nullptr;
  left_ = 0;
  memory_.reset();
}

namespace {

/// Names of handlers, programs and hosts may hold bytes that are no UTF-8.
std::string json_text(const nlohmann::ordered_json& told) {
  return told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void tell_job(file_writer& file, const job_description& job) {
  const nlohmann::ordered_json text{{"ranks", job.ranks},         {"program", job.program},
                                    {"transport", job.transport}, {"balancer", job.balancer},
                                    {"simulated", job.simulated}, {"handlers", job.handlers}};
  file.append({.kind = block_kind::job}, json_text(text));
}

rank_trace::rank_trace(file_writer& file, const description& description, instant_source source, const void* subject)
    : common_{.file = file, .rank = description.rank, .source = source, .subject = subject} {
  common_.short_ticks =
      static_cast<std::uint64_t>(std::llround(description.short_seconds / description.seconds_a_tick));
  for (std::uint32_t index = 0; index < description.thread_contexts; ++index) {
    recorders_.push_back(
        std::make_unique<recorder>(common_, index, std::max(description.thread_bytes, 8 * event_bytes_max)));
  }
  const nlohmann::ordered_json text{{"workers", description.workers},
                                    {"thread_contexts", description.thread_contexts},
                                    {"seconds_a_tick", description.seconds_a_tick},
                                    {"host", description.host}};
  file.append({.kind = block_kind::rank, .rank = description.rank}, json_text(text));
}

void rank_trace::tell_clock(const instant& instant, std::uint64_t job) {
  const nlohmann::ordered_json text{{"tick", instant.tick},
                                    {"host_ns", instant.host_ns},
                                    {"offset_ns", instant.offset_ns},
                                    {"error_ns", instant.error_ns},
                                    {"job", job}};
  if (std::exchange(has_begun_, true)) {
    last_clock_ = json_text(text);
  } else {
    common_.file.append({.kind = block_kind::clock, .rank = common_.rank}, json_text(text));
  }
}

void rank_trace::finish() {
  stop();
  for (const auto& each : recorders_) each->finish();
  if (last_clock_.empty()) return;
  common_.file.append({.kind = block_kind::clock, .rank = common_.rank}, std::exchange(last_clock_, {}));
}

}  // namespace nacre::trace
