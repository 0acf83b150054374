// SPDX-License-Identifier: Apache-2.0
// What a lane writes down while it runs, without locks, and the recorders of a rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "trace/event.hpp"
#include "trace/file_writer.hpp"

namespace nacre::trace {

/// Where events get their time: a simulation's clock, in nanoseconds; null: the processor's counter.
using instant_source = std::uint64_t (*)(const void* subject);

/// What the recorders of a rank have in common.
struct recording {
  file_writer& file;
  std::uint32_t rank = 0;
  instant_source source = nullptr;
  const void* subject = nullptr;
  std::atomic<bool> open{true};  ///< until the rank has ended; what lanes do afterwards is told nobody

  [[nodiscard]] std::uint64_t now() const { return source != nullptr ? source(subject) : ticks(); }
};

/// The events of one lane; used by the thread that the lane is used by. Holds at most the bytes that it is given: what
/// is half full is written where the lane comes to rest between two handlers, what is full at once.
class recorder {
 public:
  recorder(recording& to, std::uint32_t lane, std::size_t bytes) : to_(to), lane_(lane), bytes_(bytes) {}

  template <class... Arguments>
  void add(event_kind kind, Arguments... arguments) {
    static_assert(sizeof...(Arguments) <= 3);
    if (!to_.open.load(std::memory_order_relaxed)) return;  // a flag alone
    if (left_ < event_bytes_max) make_room();
    put(to_.now(), kind, static_cast<std::uint64_t>(arguments)...);
  }

  /// The lane has ended a handler: a good moment to write.
  void rest() {
    if (left_ < bytes_ / 2 && at_ != nullptr && to_.open.load(std::memory_order_relaxed)) make_room();
  }
  /// Writes what is left. No thread may use the lane any more.
  void finish();

 private:
  template <class... Arguments>
  void put(std::uint64_t now, event_kind kind, Arguments... arguments) {
    // Two cores' counters may differ by a few ticks.
    const std::uint64_t since = now > last_ ? now - last_ : 0;
    last_ += since;
    std::byte* out = at_;
    *out++ = static_cast<std::byte>(kind);
    out = put_number(out, since);
    ((out = put_number(out, arguments)), ...);
    left_ -= static_cast<std::size_t>(out - at_);
    at_ = out;
  }
  static std::byte* put_number(std::byte* out, std::uint64_t number) noexcept {
    while (number >= 0x80) {
      *out++ = static_cast<std::byte>(number | 0x80);
      number >>= 7;
    }
    *out++ = static_cast<std::byte>(number);
    return out;
  }
  void make_room();
  void write_block();

  recording& to_;
  std::uint32_t lane_;
  std::size_t bytes_;
  std::byte* at_ = nullptr;  // null: the memory is not there yet, and left_ is 0
  std::size_t left_ = 0;
  std::uint64_t last_ = 0;         // tick of the last event
  std::uint64_t block_begin_ = 0;  // tick from which the first event of the block counts
  std::unique_ptr<std::byte[]> memory_;
};

/// What holds for all ranks of a job.
struct job_description {
  std::uint32_t ranks = 1;
  std::string program;
  std::string transport;
  std::string balancer;
  bool simulated = false;
  std::vector<std::string> handlers;  ///< names, by number; 0 is none
};
/// The first block of a file.
void tell_job(file_writer& file, const job_description& job);

/// The trace of one rank.
class rank_trace {
 public:
  struct description {
    std::uint32_t rank = 0;
    std::uint32_t workers = 1;
    std::uint32_t lanes = 1;  ///< workers, then others
    double seconds_a_tick = 1e-9;
    std::string host;
    std::size_t lane_bytes = 0;
  };
  rank_trace(file_writer& file, const description& of, instant_source source, const void* subject);

  [[nodiscard]] recorder& of_lane(std::uint32_t index) { return *lanes_[index]; }
  /// One instant: by the clock of the events, by the monotonic clock of the host, and how much later it is on that of
  /// rank 0 at the same time. `job` tells jobs apart.
  void tell_clock(std::uint64_t tick, std::int64_t host_ns, std::int64_t offset_ns, std::uint64_t job);
  /// Nothing more is recorded. Any thread.
  void stop() noexcept { common_.open.store(false, std::memory_order_relaxed); }
  /// Writes what is left, when no thread uses a lane any more.
  void finish();

 private:
  recording common_;
  std::vector<std::unique_ptr<recorder>> lanes_;
};

}  // namespace nacre::trace
