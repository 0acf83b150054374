// SPDX-License-Identifier: Apache-2.0
// Bounds the bytes that the main of a rank has sent within its own process and that are not released.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include <nacre/message.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// Messages that stay in one address space pass no window of credit: they are in the receiver's memory as soon as they
/// are made. Handlers never wait; a main can wait, and only mains flood. So a message that a main sends to its own
/// rank, or by pointer to another one, takes room in the main's window until it is released, on any rank; one to an
/// array or a section, which passes credit but waits for its elements, until receipts have come (broadcast_receipts).
///
/// | bytes in the window | main | poll loop |
/// |---|---|---|
/// | at most the limit | sends | - |
/// | more | waits before its next send, running other work | more than half: checks again after `patience` |
/// | falls to half of `bytes_max`, after more | is woken | resets the limit to `bytes_max` |
/// | more, none released for `patience`, workers idle | is woken | raises the limit to these bytes and a quarter more |
/// | more, none released for `patience_of_busy` | is woken | raises it to these bytes and a quarter of `bytes_max` |
///
/// The last two lines are why nothing deadlocks: messages may wait for the next ones that main sends. `patience` is
/// longer than a thread of a busy machine waits for a processor, lest the window grows because the workers do not run.
/// A worker in a long handler releases nothing either, and will go on: so the last line is for handlers that wait for
/// main by sending to themselves again and again.
class main_send_window {
  struct shared;

 public:
  /// Bytes in the window that are not those of one message. Any thread may end it, also when the window is no more.
  class room {
   public:
    room() = default;
    room(room&& other) noexcept : in_(other.in_), bytes_(std::exchange(other.bytes_, 0)) {}
    room& operator=(room&& other) noexcept {
      std::swap(in_, other.in_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~room() {
      if (bytes_ != 0) end(*in_, bytes_);
    }
    /// `other`: of the same window.
    void add(room other) noexcept {
      in_ = other.in_;
      bytes_ += std::exchange(other.bytes_, 0);
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

   private:
    friend class main_send_window;
    room(shared& in, std::uint64_t bytes) noexcept : in_(&in), bytes_(bytes) {}
    shared* in_ = nullptr;
    std::uint64_t bytes_ = 0;
  };
  static constexpr std::chrono::milliseconds patience{10}, patience_of_busy{1000};
  /// Enough to keep a worker busy until main has been woken, and to be in a cache still when the worker gets there.
  static constexpr std::uint64_t worker_bytes = std::uint64_t{2} << 20;

  /// `wake`: makes the poll loop of this rank poll; called by any thread.
  main_send_window(std::uint64_t bytes_max, std::function<void()> wake);
  main_send_window(const main_send_window&) = delete;
  main_send_window& operator=(const main_send_window&) = delete;
  ~main_send_window();

  /// `m` takes room from now on until it is released, or packed. The application's thread only.
  void acquire(message& m);
  /// `bundle`, which is still empty, takes room for the parts that main adds to it; see grow. Parts that another bundle
  /// takes over take their room along. The application's thread only.
  void acquire_bundle(message& bundle) { bundle.ops = &ops_for(nullptr); }
  /// Main has added a part of so many bytes to a bundle. The application's thread only.
  void grow(std::uint64_t bytes) noexcept;

  /// Takes room for what main sends that is no message of this address space. The application's thread only.
  [[nodiscard]] room take(std::uint64_t bytes) noexcept {
    grow(bytes);
    return {*shared_, bytes};
  }
  [[nodiscard]] std::uint64_t bytes_max() const noexcept { return bytes_max_; }

  /// The main should wait. Any thread, as a hint.
  [[nodiscard]] bool over() const noexcept { return over_.load(std::memory_order_relaxed); }
  /// Sets whether main waits. While it does, the release that brings the window to half of `bytes_max` wakes it. The
  /// application's thread.
  void set_waiting(bool waits) noexcept;
  /// The workers of the process: all have nothing to do, or some run handlers.
  enum class workers : std::uint8_t { idle, busy };
  /// Inside the poll loop, while main waits. Asks `state_of_workers` when nothing has been released for `patience`.
  void check(std::chrono::nanoseconds now, const std::function<workers()>& state_of_workers);
  [[nodiscard]] std::uint64_t used() const noexcept {
    // Read before sent_, which is then never less. acquire: pairs with end_of
    const std::uint64_t released = shared_->released.load(std::memory_order_acquire);
    return sent_.load(std::memory_order_relaxed) - released;
  }

 private:
  /// The operations of one handler's arguments, and the window that is told of their end.
  struct windowed_ops : body_ops {
    windowed_ops(const body_ops* body_ops, shared& in) noexcept;
    const body_ops* inner;  // null: packed
    shared& window;
  };
  /// Outlives its owner until the last message is released. Main's own counters lie elsewhere, so that the two sides
  /// share no cache line while main has room.
  struct alignas(cache_line_bytes) shared {
    std::atomic<std::uint64_t> released{0};     // bytes ever
    std::atomic<std::uint64_t> wake_at{never};  // main wants to be woken when that much has been released
    std::atomic<std::uint64_t> end_at{never};   // the release that reaches this sum deletes the struct
    std::function<void()> wake;
    std::deque<windowed_ops> known;  // by the application's thread; messages point into it
    std::unordered_map<const body_ops*, const windowed_ops*> by_inner;  // of known; the application's thread
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    void release(std::uint64_t bytes) noexcept;
  };
  static void end_of(message& m) noexcept;
  static void end(shared& in, std::uint64_t bytes) noexcept;
  [[nodiscard]] const windowed_ops& ops_for(const body_ops* inner);

  const std::uint64_t bytes_max_;
  shared* const shared_;
  const windowed_ops* recent_ = nullptr;    // application's thread
  std::uint64_t released_seen_ = 0;         // application's thread: so much has been released, or more
  std::atomic<std::uint64_t> sent_{0};      // bytes ever; written by the application's thread
  std::atomic<std::uint64_t> limit_;        // raised and reset by the poll loop
  std::atomic<bool> over_{false};           // set by the application's thread, cleared by the poll loop
  std::uint64_t seen_ = 0;                  // poll loop: bytes in the window at the last change
  std::chrono::nanoseconds changed_at_{0};  // poll loop
};

}  // namespace nacre
