// SPDX-License-Identifier: Apache-2.0
// Blocks of events on their way to the file.
#include "trace/recorder.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace nacre::trace {

void recorder::write_block() {
  if (at_ == nullptr || at_ == memory_.get()) return;
  const auto used = static_cast<std::size_t>(at_ - memory_.get());
  to_.file.append({.kind = block_kind::events, .rank = to_.rank, .lane = lane_, .first_tick = block_begin_},
                  std::span(memory_.get(), used));
}

/// The time that this takes is in the trace, so that it is not taken for the program's.
void recorder::make_room() {
  const std::uint64_t begin = to_.now();
  write_block();
  const bool first = memory_ == nullptr;
  if (first) {
    memory_ = std::make_unique<std::byte[]>(bytes_);
    last_ = begin;
  }
  at_ = memory_.get();
  left_ = bytes_;
  block_begin_ = last_;
  const std::uint64_t end = to_.now();
  if (first || begin == end) return;
  put(begin, event_kind::write_begin);
  put(end, event_kind::end);
}

void recorder::finish() {
  write_block();
  at_ = nullptr;
  left_ = 0;
  memory_.reset();
}

void tell_job(file_writer& file, const job_description& job) {
  const nlohmann::ordered_json text{{"ranks", job.ranks},         {"program", job.program},
                                    {"transport", job.transport}, {"balancer", job.balancer},
                                    {"simulated", job.simulated}, {"handlers", job.handlers}};
  file.append({.kind = block_kind::job}, text.dump());
}

rank_trace::rank_trace(file_writer& file, const description& of, instant_source source, const void* subject)
    : common_{file, of.rank, source, subject} {
  for (std::uint32_t index = 0; index < of.lanes; ++index) {
    lanes_.push_back(std::make_unique<recorder>(common_, index, std::max(of.lane_bytes, 8 * event_bytes_max)));
  }
  const nlohmann::ordered_json text{
      {"workers", of.workers}, {"lanes", of.lanes}, {"seconds_a_tick", of.seconds_a_tick}, {"host", of.host}};
  file.append({.kind = block_kind::rank, .rank = of.rank}, text.dump());
}

void rank_trace::tell_clock(std::uint64_t tick, std::int64_t host_ns, std::int64_t offset_ns, std::uint64_t job) {
  const nlohmann::ordered_json text{{"tick", tick}, {"host_ns", host_ns}, {"offset_ns", offset_ns}, {"job", job}};
  common_.file.append({.kind = block_kind::clock, .rank = common_.rank}, text.dump());
}

void rank_trace::finish() {
  stop();
  for (const auto& each : lanes_) each->finish();
}

}  // namespace nacre::trace
