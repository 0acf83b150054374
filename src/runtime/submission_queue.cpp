// SPDX-License-Identifier: Apache-2.0
// Handing in, and taking out.
#include "runtime/submission_queue.hpp"

#include <utility>

#include <nacre/error.hpp>

namespace nacre {

submission_queue::~submission_queue() {
  adopt_pushed();
  while (first_ != nullptr) delete std::exchange(first_, first_->next);
}

bool submission_queue::put(std::unique_ptr<detail::submission>& work, detail::when_full policy) {
  if (is_over_) throw_over();
  const std::uint64_t room = room_of(*work);
  if (!take_room(room)) {
    if (policy == detail::when_full::refuse) return false;
    wait_for_room(room);
  }
  push(*work.release());
  return true;
}

void submission_queue::put_last(std::unique_ptr<detail::submission> work) noexcept {
  const std::scoped_lock lock(mutex_);
  if (is_over_) return;
  used_.fetch_add(room_of(*work), std::memory_order_relaxed);
  push(*work.release());
}

void submission_queue::throw_over() { throw usage_error("the job has ended, so its submitters take no more"); }

/// seq_cst, as in give_room: a thread that is about to wait sees the room, or give_room sees that it waits. What is
/// refused never adds to the sum, not even for a moment in which others could find no room.
bool submission_queue::take_room(std::uint64_t room) noexcept {
  std::uint64_t used = used_.load();
  do {
    if (used >= room_max()) return false;
  } while (!used_.compare_exchange_weak(used, used + room));
  return true;
}

void submission_queue::wait_for_room(std::uint64_t room) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  while (!is_over_ && !take_room(room)) room_.wait(lock);
  --waiting_;
  if (is_over_) throw_over();
}

/// The rank cannot end before this returns: a door of the caller is open, or the caller has the mutex.
void submission_queue::push(detail::submission& work) noexcept {
  detail::submission* submission = pushed_.load(std::memory_order_relaxed);
  do work.next = submission;
  // release: pairs with the exchange in adopt_pushed, after which the poll loop may delete the work
  while (!pushed_.compare_exchange_weak(submission, &work, std::memory_order_release, std::memory_order_relaxed));
  if (submission == nullptr) wake_();
}

/// Moves what has been pushed to the list of the poll loop, in the order in which it came.
void submission_queue::adopt_pushed() noexcept {
  detail::submission* newest = pushed_.exchange(nullptr, std::memory_order_acquire);  // pairs with push
  while (newest != nullptr) {
    detail::submission* const older = std::exchange(newest->next, first_);
    first_ = newest;
    newest = older;
  }
}

std::unique_ptr<detail::submission> submission_queue::take() {
  if (first_ == nullptr) adopt_pushed();
  if (first_ == nullptr) return nullptr;
  std::unique_ptr<detail::submission> taken(first_);
  first_ = taken->next;
  taken_ += room_of(*taken);
  if (first_ == nullptr || taken_ >= parts_at_once * entry_room_) give_room();
  return taken;
}

void submission_queue::give_room() {
  const std::uint64_t left = used_.fetch_sub(taken_) - taken_;  // seq_cst: see take_room
  taken_ = 0;
  if (left > room_max() / 2 || waiting_ == 0) return;
  const std::scoped_lock lock(mutex_);
  room_.notify_all();
}

void submission_queue::end() {
  const std::scoped_lock lock(mutex_);
  is_over_ = true;
  room_.notify_all();
}

}  // namespace nacre
