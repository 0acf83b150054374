// SPDX-License-Identifier: Apache-2.0
// Recorders of events: one for each thread, without locks, and the recorders of a rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "trace/event.hpp"
#include "trace/file_writer.hpp"

namespace nacre::trace {

/// The clock of events: a simulation's clock, in nanoseconds. Null stands for the processor's counter.
using instant_source = std::uint64_t (*)(const void* subject);

/// The state that all recorders of a rank share.
struct recording {
  file_writer& file;
  std::uint32_t rank = 0;
  instant_source source = nullptr;
  const void* subject = nullptr;
  std::uint64_t short_ticks = 0;  ///< shorter handlers share readings of the clock; 0: none do
  std::atomic<bool> open{true};   ///< until the rank has ended; later events are not recorded
  std::uint64_t closed_at = 0;    ///< the instant at which `open` became false

  [[nodiscard]] std::uint64_t now() const { return source != nullptr ? source(subject) : ticks(); }
};

/// Records the events of one thread context; used by the thread that uses the thread context. Its buffer has `bytes`
/// bytes. The recorder writes a half-full buffer when the thread is between two handlers, and a full one at once.
///
/// A reading of the clock may take longer than a handler. So handlers of one kind share readings while they are short
/// and a worker runs one directly after the other. The recorder reads the clock at the begin and end of the first and
/// at the end of the last, and takes the others to be as long as the first. As many handlers share as would take
/// `short_ticks` together, at most sharers_max. If they take more than eight times `short_ticks`, one of them was long:
/// then the recorder measures each handler for a while. It does so for longer the more often that happens.
class recorder {
 public:
  recorder(recording& recording, std::uint32_t thread, std::size_t bytes)
      : recording_(recording), thread_(thread), bytes_(bytes) {}

  /// A worker is about to run a piece of ready work, directly after the piece before or the last recorded event.
  void item() noexcept { fresh_ = true; }
  /// The worker is about to do something that it does not record.
  void pause() {
    if (few_.done != 0 && is_open()) settle(recording_.now());
  }

  /// A handler begins. `kind` is one of the kinds that name a handler.
  void begin(event_kind kind, std::uint32_t handler) {
    const bool first = std::exchange(fresh_, false);
    if (!is_open()) return;
    if (first && few_.next == key_of(kind, handler)) {
      few_.next = 0;
      few_.inside = true;
      return;
    }
    add(kind, handler);
    if (first && recording_.short_ticks != 0) {
      few_.alone = key_of(kind, handler);
      few_.begun = last_;
    }
  }
  /// The innermost handler ends.
  void end() {
    if (!is_open()) return;
    if (few_.inside) {
      few_.inside = false;
      few_.next = few_.key;
      if (++few_.done == few_.wanted) settle(recording_.now());
    } else {
      end_read();
    }
  }

  /// Records any other event, or the begin or end of a handler that is to be measured.
  template <class... Arguments>
  void add(event_kind kind, Arguments... arguments) {
    static_assert(sizeof...(Arguments) <= 3);
    if (!is_open()) return;
    if (left_ < room_min) make_room();
    const std::uint64_t now = recording_.now();
    if (few_.done != 0) settle(now);
    few_.alone = 0;
    sends_.left = 0;
    put(now, kind, static_cast<std::uint64_t>(arguments)...);
  }
  /// A message leaves. Of many sends in quick succession only some read the clock; the others take the instant of the
  /// event before them.
  void send(std::uint32_t to_rank, std::uint64_t bytes) {
    if (!is_open()) return;
    if (left_ < room_min) make_room();
    if (few_.done != 0 && !few_.inside) settle(recording_.now());
    const bool shares = few_.inside || sends_.left != 0;
    put(shares ? last_ : instant_of_send(), event_kind::send, std::uint64_t{to_rank}, bytes);
    if (!few_.inside && shares) --sends_.left;
  }

  /// The worker has taken work from another thread. The thread's number is `victim` - 1; it is not known if `victim` is
  /// 0. Between handlers that share readings, several such events in a row become one.
  void steal(std::uint64_t items, std::uint64_t victim) {
    if (few_.done == 0 || few_.inside || (few_.stolen != 0 && few_.victim != victim)) {
      return add(event_kind::steal, items, victim);
    }
    few_.stolen += items;
    few_.victim = victim;
  }

  /// The thread is between two handlers: writes the buffer if it is more than half full.
  void rest() {
    if (left_ < bytes_ / 2 && position_ != nullptr && is_open()) make_room();
  }
  /// Writes the remaining events. No thread may use the thread context any more.
  void finish();

 private:
  static constexpr std::size_t room_min = 4 * event_bytes_max;
  // So many handlers are measured one by one after a long handler has hidden among short ones.
  static constexpr std::uint32_t wary_min = 32, wary_max = 4096;

  // Relaxed: the flag orders nothing else.
  [[nodiscard]] bool is_open() const noexcept { return recording_.open.load(std::memory_order_relaxed); }
  /// A number for a handler and the kind of its begin; never 0.
  [[nodiscard]] static std::uint64_t key_of(event_kind kind, std::uint32_t handler) noexcept {
    return std::uint64_t{handler} << 8 | static_cast<std::uint64_t>(kind);
  }

  template <class... Arguments>
  void put(std::uint64_t now, event_kind kind, Arguments... arguments) {
    // The counters of two cores may differ by a few ticks, so `now` may lie before `last_`.
    const std::uint64_t since = now > last_ ? now - last_ : 0;
    last_ += since;
    std::byte* out = position_;
    *out++ = static_cast<std::byte>(kind);
    out = put_number(out, since);
    ((out = put_number(out, arguments)), ...);
    left_ -= static_cast<std::size_t>(out - position_);
    position_ = out;
  }
  static std::byte* put_number(std::byte* out, std::uint64_t number) noexcept {
    while (number >= 0x80) {
      *out++ = static_cast<std::byte>(number | 0x80);
      number >>= 7;
    }
    *out++ = static_cast<std::byte>(number);
    return out;
  }
  void end_read();
  void settle(std::uint64_t now);
  [[nodiscard]] std::uint32_t share_of(std::uint64_t spent) noexcept;
  [[nodiscard]] std::uint64_t instant_of_send();
  void make_room();
  void write_block();

  /// Handlers that share readings, while those that have ended are not written yet.
  struct sharing {
    std::uint64_t alone = 0;   // key of the handler that runs, if it may become the first of several
    std::uint64_t next = 0;    // key of the handlers that may share next; 0 while one runs
    std::uint64_t key = 0;     // key of the handlers that share
    std::uint64_t spent = 0;   // ticks of the first
    std::uint64_t begun = 0;   // tick at which the first began
    std::uint64_t stolen = 0;  // items, since the first
    std::uint64_t victim = 0;
    std::uint32_t done = 0;    // handlers that have ended; 0: none share now
    std::uint32_t wanted = 0;  // handlers that may share
    bool inside = false;       // a handler runs that shares and is not the first
  };
  /// Sends that share a reading.
  struct bursting {
    std::uint64_t read = 0;  // tick of the last send that read the clock
    std::uint32_t left = 0;  // sends that still share this reading
    std::uint32_t all = 0;   // sends that could share it at first
  };

  recording& recording_;
  std::uint32_t thread_;
  std::size_t bytes_;
  std::byte* position_ = nullptr;  // null: memory_ is not allocated yet, and left_ is 0
  std::size_t left_ = 0;
  std::uint64_t last_ = 0;  // tick of the last event
  sharing few_;
  bool fresh_ = false;  // the handler that begins is the first thing that a piece of work does
  bursting sends_;
  std::uint32_t wary_ = 0;              // handlers still to be measured one by one
  std::uint32_t wary_next_ = wary_min;  // the next value of wary_, if a long handler hides again
  std::uint64_t block_begin_ = 0;       // tick from which the first event of the block counts
  std::unique_ptr<std::byte[]> memory_;
};

/// The properties of a job that all its ranks share.
struct job_description {
  std::uint32_t ranks = 1;
  std::string program;
  std::string transport;
  std::string balancer;
  bool simulated = false;
  std::vector<std::string> handlers;  ///< names, by number; 0 is none
};
/// Writes the first block of a file.
void tell_job(file_writer& file, const job_description& job);

/// The trace of one rank.
class rank_trace {
 public:
  struct description {
    std::uint32_t rank = 0;
    std::uint32_t workers = 1;
    std::uint32_t thread_contexts = 1;  ///< workers, then others
    double seconds_a_tick = 1e-9;
    std::string host;
    std::size_t thread_bytes = 0;
    double short_seconds = 0;  ///< shorter handlers share readings of the clock; see recorder
  };
  rank_trace(file_writer& file, const description& description, instant_source source, const void* subject);

  [[nodiscard]] recorder& of_thread(std::uint32_t index) { return *recorders_[index]; }
  /// One instant, by several clocks.
  struct instant {
    std::uint64_t tick = 0;      ///< by the clock of the events
    std::int64_t host_ns = 0;    ///< by the host's monotonic clock
    std::int64_t offset_ns = 0;  ///< by how much the monotonic clock of rank 0 is ahead of host_ns
    std::int64_t error_ns = 0;   ///< by how much offset_ns may be wrong
  };
  /// Records an instant. `job` tells jobs apart. To be called once at the start, and again later, the last time at the
  /// end. `finish` writes the last instant as the last block, so readers know that nothing is missing. Not thread-safe.
  void tell_clock(const instant& instant, std::uint64_t job);
  /// Now, by the clock of the events.
  [[nodiscard]] std::uint64_t now() const { return common_.now(); }
  /// Ends recording: later events are dropped. Not thread-safe.
  void stop() noexcept {
    if (!common_.open.load(std::memory_order_relaxed)) return;
    common_.closed_at = common_.now();
    common_.open.store(false, std::memory_order_relaxed);
  }
  /// Writes the remaining events. No thread may use a thread context any more.
  void finish();

 private:
  recording common_;
  std::vector<std::unique_ptr<recorder>> recorders_;
  bool has_begun_ = false;  // the first instant has been written
  std::string last_clock_;  // the last instant, not written yet; empty: there is none
};

}  // namespace nacre::trace
