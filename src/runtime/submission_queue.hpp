// SPDX-License-Identifier: Apache-2.0
// Work that threads of the program have handed to a rank, until its poll loop takes it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <nacre/submission.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// | event | open, room | open, full | over |
/// |---|---|---|---|
/// | a thread hands in | taken; the poll loop wakes if the queue was empty | waits, or is refused | usage_error |
/// | the poll loop takes | the oldest | the oldest; when half is left, waiting threads go on | - |
/// | a door closes | its last submission, for which there is always room | the same | nothing |
/// | the job ends | over; waiting threads get usage_error | the same | - |
///
/// It is full when what waits has `bytes_max` of arguments, or more by the last one; each entry counts as a 4,096th of
/// that beside its bytes, so that there are no more of them either.
///
/// The doors share it with the rank, so that it lives until the last of both has gone. Threads push onto a stack,
/// without a lock; the poll loop takes the whole stack and turns it round, so what one thread has handed in stays in
/// order.
class submission_queue {
 public:
  static constexpr std::size_t entries_max = 4096;

  /// `wake`: makes the poll loop poll; called by any thread while the rank lives.
  submission_queue(std::uint64_t bytes_max, std::function<void()> wake)
      : entry_room_(std::max<std::uint64_t>(1, bytes_max / entries_max)), wake_(std::move(wake)) {}
  ~submission_queue();
  submission_queue(const submission_queue&) = delete;
  submission_queue& operator=(const submission_queue&) = delete;

  // Any thread.
  /// False: there is no room, and the caller does not want to wait. Throws usage_error when the job has ended.
  [[nodiscard]] bool put(std::unique_ptr<detail::submission>& work, detail::when_full policy);
  /// There is always room for it. Dropped when the job has ended.
  void put_last(std::unique_ptr<detail::submission> work) noexcept;

  // The poll loop.
  [[nodiscard]] bool empty() const noexcept {
    return first_ == nullptr && pushed_.load(std::memory_order_relaxed) == nullptr;  // take looks again
  }
  [[nodiscard]] std::unique_ptr<detail::submission> take();

  /// The rank ends.
  void end();

 private:
  static constexpr std::size_t parts_at_once = 64;  // so much of the room the poll loop frees before it gives it back

  [[noreturn]] static void throw_over();
  /// The room that `work` takes, of room_max().
  [[nodiscard]] std::uint64_t room_of(const detail::submission& work) const noexcept {
    return entry_room_ + work.bytes;
  }
  [[nodiscard]] std::uint64_t room_max() const noexcept { return entry_room_ * entries_max; }
  [[nodiscard]] bool take_room(std::uint64_t room) noexcept;
  void wait_for_room(std::uint64_t room);
  void give_room();
  void push(detail::submission& work) noexcept;
  void adopt_pushed() noexcept;

  const std::uint64_t entry_room_;  // beside the bytes of its arguments
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::atomic<std::size_t> waiting_{0};  // threads; written under the mutex
  std::atomic<bool> is_over_{false};     // written under the mutex

  // Threads that hand in.
  alignas(cache_line_bytes) std::atomic<detail::submission*> pushed_{nullptr};  // the newest first
  std::atomic<std::uint64_t> used_{0};  // room of what waits, also in the poll loop's list

  // The poll loop.
  alignas(cache_line_bytes) detail::submission* first_ = nullptr;  // the oldest first
  std::uint64_t taken_ = 0;                                        // room that used_ still has
};

}  // namespace nacre
