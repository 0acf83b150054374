// SPDX-License-Identifier: Apache-2.0
// A thread context: the state of one thread of control of a rank.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <nacre/ids.hpp>
#include <nacre/phase.hpp>
#include <nacre/rng.hpp>
#include <nacre/scheduler.hpp>

#include "base/cache_line.hpp"
#include "base/epoch.hpp"
#include "base/parker.hpp"
#include "base/thread_counter.hpp"
#include "exec/preemption.hpp"
#include "exec/running_handler.hpp"
#include "trace/recorder.hpp"

namespace nacre {

class worker_pool;
class thread_context;
class am_engine;
class main_send_window;

enum class thread_role : std::uint8_t {
  worker,       ///< runs handlers
  application,  ///< the SPMD main; while it waits, its thread runs worker 0
  progress      ///< the poll loop, when it has a thread of its own
};

/// Counters of one thread context; all but the first four only for the summary.
struct thread_counters {
  thread_counter created;         ///< counted messages that it brought into being; see quiescence/
  thread_counter done;            ///< handlers of counted messages that have ended here
  thread_counter readied, taken;  // ready work given to the scheduler, and run
  thread_counter handlers, messages_local, messages_sent, bytes_sent;
  thread_counter hops, forwards, carried, updates_sent, updates_received, migrations_out, migrations_in;  // of objects
  thread_counter handler_ticks, busy_ticks, idle_ticks;
};

/// Measures the time in handlers without paying a clock reading for each short one: as long as the runs of a handler
/// are short, every eleventh is measured and counts elevenfold. Eleven is out of step with programs that repeat
/// themselves after 8 or 9 runs, and a fixed stride, unlike a random one, suits branch prediction. Handlers with equal
/// remainders share their counts. One thread.
class handler_meter {
 public:
  /// A run, or a step of several messages, begins with `handler`. True: measure it, and call `measured`.
  [[nodiscard]] bool begin(std::uint32_t handler) noexcept { return --of(handler).until_measured == 0; }
  /// How many ticks to account for a run that took `spent`.
  [[nodiscard]] std::uint64_t measured(std::uint32_t handler, std::uint64_t spent) noexcept {
    kind& state = of(handler);
    const std::uint64_t accounted = spent * state.weight;
    state.weight = state.until_measured = spent < short_ticks ? sampled : 1;
    return accounted;
  }

 private:
  static constexpr std::uint8_t sampled = 11;
  static constexpr std::uint64_t short_ticks = 10'000;  // some microseconds

  struct kind {
    std::uint8_t until_measured = 1, weight = 1;
  };
  [[nodiscard]] kind& of(std::uint32_t handler) noexcept { return kinds_[handler % kinds_.size()]; }

  std::array<kind, 64> kinds_{};
};

/// The part of a coroutine, up to where it waits or ends, that runs on a thread. What has been accounted stays until
/// the part has returned, as the coroutine may be gone by then. One thread.
struct coroutine_part {
  /// Of the handler_meter. Steps that begin coroutines, parts before the first wait, and later parts have a row each,
  /// as one may be short and the next one long.
  [[nodiscard]] static constexpr std::uint32_t row_of(std::uint32_t handler, bool resumed) noexcept {
    return handler + (resumed ? 32 : 16);
  }
  bool runs = false, sampled = false;
  std::uint64_t begin = 0;      ///< in ticks of the worker pool
  std::uint64_t accounted = 0;  ///< in ticks: of handlers, since it was resumed
  double seconds = 0;           ///< since it was resumed
  double weighed = 0;           ///< likewise: what these stand for, of the coroutine and its like
};

/// A buffer that collects the messages of one thread context until it runs out of work. A layer above owns the buffer;
/// the thread context only decides when to flush.
class send_buffer {
 public:
  /// Sends the collected messages. Any thread; `thread` is the caller's thread context.
  virtual void flush(thread_context& thread) = 0;
  /// Since when a message has been waiting, in ticks of the worker pool; 0: none is. Any thread; a hint for all but the
  /// owning thread.
  [[nodiscard]] std::uint64_t since() const noexcept { return since_.load(std::memory_order_acquire); }

 protected:
  ~send_buffer() = default;
  /// A message waits from now on. Virtual time begins at instant 0, which means that none does.
  void note_waiting(std::uint64_t now) noexcept {
    since_.store(now == 0 ? 1 : now, std::memory_order_release);  // pairs with `since`
  }
  /// release: a thread that reads 0 comes after all messages sent before; pairs with `since`.
  void note_none_waits() noexcept { since_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> since_{0};
};

/// The state of one thread of control that acts for a rank: a worker's, the application's, or the poll loop's. Used by
/// one thread at a time. It replaces thread-local variables, so that many ranks fit into one thread.
class alignas(cache_line_bytes) thread_context {
 public:
  thread_context(worker_pool& pool, worker_id id, thread_role role, rng random, epoch_domain& readers)
      : pool_(pool), id_(id), role_(role), random_(random), reader_(readers) {
    reader_.offline();
  }

  [[nodiscard]] worker_pool& pool() const noexcept { return pool_; }
  [[nodiscard]] worker_id id() const noexcept { return id_; }
  [[nodiscard]] thread_role role() const noexcept { return role_; }
  /// Whether it has found no work when it last looked. Own thread.
  [[nodiscard]] bool idle() const noexcept { return idle_; }
  /// Whether a handler runs on a rank under backpressure, which cannot send: messages that the handler sends to its own
  /// rank should wait. Own thread.
  [[nodiscard]] bool backpressure() const noexcept { return pressure_ == scheduler::pressure::unsent && in_item_; }
  /// Whether an item of work runs, so maybe a handler. Own thread.
  [[nodiscard]] bool in_item() const noexcept { return in_item_; }
  /// A number for the item of work that runs, other than those of the items before it and of other threads; 0 for none.
  /// It wraps, and is a hint. Own thread.
  [[nodiscard]] std::uint32_t item() const noexcept {
    if (!in_item_) return 0;
    return static_cast<std::uint32_t>(counters_.taken.read()) << 11U | (id_.value() & 0x3ffU) << 1U | 1U;
  }
  /// The number of the thread in such a number, up to 1023.
  [[nodiscard]] static constexpr std::size_t thread_of_item(std::uint32_t item) noexcept { return item >> 1U & 0x3ffU; }
  [[nodiscard]] rng& random() noexcept { return random_; }
  [[nodiscard]] epoch_domain::participant& reader() noexcept { return reader_; }
  /// The active-message engine above, for work that runs here.
  [[nodiscard]] am_engine& messages() const noexcept { return *messages_; }
  void attach(am_engine& messages, send_buffer* collected) noexcept {
    messages_ = &messages;
    send_buffer_ = collected;
  }
  /// Where messages that are sent now take room until they are released: main's, that of submitters, or null. Own
  /// thread.
  [[nodiscard]] main_send_window* window() const noexcept { return window_; }
  void set_window(main_send_window* window) noexcept { window_ = window; }
  /// The buffer of messages to this rank itself.
  void attach_own(send_buffer* collected) noexcept { own_buffer_ = collected; }
  /// Packed operations on containers wait here; see nacre/operation_buffers.hpp. Before anything runs.
  void attach_operations(send_buffer& collected) noexcept { operations_ = &collected; }
  /// Whether messages or operations wait for company. Any thread, as a hint.
  [[nodiscard]] bool collects() const noexcept {
    return (send_buffer_ != nullptr && send_buffer_->since() != 0) ||
           (own_buffer_ != nullptr && own_buffer_->since() != 0) ||
           (operations_ != nullptr && operations_->since() != 0);
  }
  /// Sends the operations on containers that wait. Throws what functions of their keys throw. Own thread.
  void flush_operations() {
    if (operations_ != nullptr && operations_->since() != 0) operations_->flush(*this);
  }
  /// Sends the collected messages, if there are any. Own thread.
  void flush() {
    ++round_;
    flush_operations();
    if (send_buffer_ != nullptr && send_buffer_->since() != 0) send_buffer_->flush(*this);
    if (own_buffer_ != nullptr && own_buffer_->since() != 0) own_buffer_->flush(*this);
  }
  /// Advances with each flush: the first message to a rank in a round need not wait for company. Own thread.
  [[nodiscard]] std::uint64_t round() const noexcept { return round_; }
  [[nodiscard]] thread_counters& counters() noexcept { return counters_; }
  [[nodiscard]] const thread_counters& counters() const noexcept { return counters_; }

  /// From now on the events of this thread context are recorded. Before anything runs.
  void record_to(trace::recorder& recorder) {
    recorder_ = &recorder;
    if (idle_) record(trace::event_kind::idle_begin);
  }
  [[nodiscard]] bool is_recorded() const noexcept { return recorder_ != nullptr; }
  /// Own thread. Without a trace it is one branch.
  template <class... Arguments>
  void record(trace::event_kind kind, Arguments... arguments) {
    if (recorder_ != nullptr) [[unlikely]] {
      recorder_->add(kind, arguments...);
    }
  }
  /// Records that the next item of ready work, or the next message of it, is about to run.
  void record_item() noexcept {
    if (recorder_ != nullptr) [[unlikely]] {
      recorder_->item();
    }
  }
  /// Records the begin of a handler; record_end records its end. `kind`: one of the kinds that name a handler.
  void record_begin(trace::event_kind kind, handler_id handler) {
    if (recorder_ != nullptr) [[unlikely]] {
      recorder_->begin(kind, handler.value());
    }
  }
  void record_end() {
    if (recorder_ != nullptr) [[unlikely]] {
      recorder_->end();
    }
  }
  /// A message leaves for another rank, or this one.
  void record_send(rank_id target, std::uint64_t bytes) {
    if (recorder_ != nullptr) [[unlikely]] {
      recorder_->send(target.value(), bytes);
    }
  }

  /// Seconds that handlers have declared by charge() beyond the time that they took. The code that accounts the load
  /// takes and resets them. Under simulation they are spent instead.
  double charged = 0;
  /// The phases of the program that run here; null: nobody asks for them. Set before anything runs.
  trace::phase_stack* phases = nullptr;
  handler_meter meter;
  coroutine_part part;
  preemption_watch preemption;
  running_handler running;
  /// A message that has waited here took so many bytes; a sample of the messages is enough.
  void note_size(std::size_t bytes) noexcept { item_bytes_ += (static_cast<double>(bytes) - item_bytes_) / 8; }

 private:
  friend class worker_pool;
  friend class thread_pool;
  friend class sim_pool;

  worker_pool& pool_;
  am_engine* messages_ = nullptr;
  send_buffer* send_buffer_ = nullptr;  // null: everything leaves at once
  send_buffer* own_buffer_ = nullptr;   // null: every message to this rank is an item of its own
  send_buffer* operations_ = nullptr;
  main_send_window* window_ = nullptr;
  trace::recorder* recorder_ = nullptr;
  std::uint64_t round_ = 0;  // own thread
  worker_id id_;
  thread_role role_;
  bool idle_ = false;                                         // own thread: counted in worker_pool::idle_workers_
  bool in_item_ = false;                                      // own thread: a handler may be running
  bool announced_ = false;                                    // own thread: counted in thread_pool::sleepers_
  bool watches_ = false;                                      // own thread: is the watcher; see thread_pool
  bool running_ = false;                                      // own thread: the last step ran an item
  scheduler::pressure pressure_ = scheduler::pressure::none;  // own thread: the scheduler has been told
  double item_bytes_ = 192;                                   // own thread: moving average
  std::uint64_t stepped_at_ = 0;                              // own thread: when it last read the clock
  std::uint32_t untimed_ = 0;                                 // own thread: items that have run since then
  std::uint32_t untimed_max_ = 1;                             // own thread: after so many it reads the clock again
  std::uint64_t pressure_checked_at_ = 0;                     // own thread: when it last checked the pressure
  std::uint64_t polled_at_ = 0;                               // own thread: when it last polled
  std::uint64_t steals_told_ = 0;                             // own thread: steals that the trace has
  rng random_;
  epoch_domain::participant reader_;
  thread_counters counters_;
  alignas(cache_line_bytes) std::atomic<bool> parked_{false};
  parker parker_;
};

}  // namespace nacre
