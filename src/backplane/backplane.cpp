// SPDX-License-Identifier: Apache-2.0
// Turns of the poll loop, outboxes, timers.
#include "backplane/backplane.hpp"

#include <algorithm>
#include <limits>
#include <thread>

#include <nacre/assert.hpp>

namespace nacre {

backplane::backplane(std::unique_ptr<transport::endpoint> link, clock& time)
    : link_(std::move(link)),
      time_(time),
      rank_(link_->rank()),
      size_(link_->size()),
      declared_(link_->declared()),
      timers_due_(std::chrono::nanoseconds::max()),
      next_due_ns_(std::numeric_limits<std::int64_t>::max()),
      flush_bound_ticks_(
          static_cast<std::uint64_t>(ticks_per_second() * std::chrono::duration<double>(flush_bound).count())),
      outboxes_(size_) {}

backplane::~backplane() = default;

void backplane::send(rank_id to, message_ptr m) {
  NACRE_EXPECT(to.value() < size_, "a message to a rank that does not exist");
  const bool own = to == rank_ && !declared_.virtual_time;
  if ((declared_.concurrent_submit && !own) || declared_.virtual_time) {
    message_list single;
    single.push_back(std::move(m));
    link_->submit(to, single);
    NACRE_ENSURE(single.empty(), "a transport that any lane may submit to takes everything; see its contract");
    return;
  }
  {
    outbox& box = outboxes_[to.value()];
    const std::scoped_lock lock(box.mutex);
    box.waiting.push_back(std::move(m));
    waiting_.fetch_add(1, std::memory_order_relaxed);  // a hint, as above
  }
  if (own) {
    link_->wake();
    return;
  }
  // A lone message leaves at once; those that follow within the bound share a write.
  const std::uint64_t now = ticks();
  if (now - flushed_at_ticks_.load(std::memory_order_relaxed) < flush_bound_ticks_) {  // a hint: no order needed
    link_->wake();
    return;
  }
  if (turn_.test_and_set(std::memory_order_acquire)) {  // pairs with the clear at the end of a turn
    link_->wake();
    return;
  }
  flush();
  turn_.clear(std::memory_order_release);  // pairs with the next test_and_set
}

bool backplane::flush() {
  if (waiting_.load(std::memory_order_relaxed) == 0) return false;  // a hint: the next turn sees what this one misses
  bool moved = false;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    if (rank == rank_.value() && !declared_.virtual_time) continue;
    outbox& box = outboxes_[rank];
    const std::scoped_lock lock(box.mutex);
    if (box.waiting.empty()) continue;
    const std::size_t before = box.waiting.size();
    link_->submit(rank_id(rank), box.waiting);
    const std::size_t sent = before - box.waiting.size();
    waiting_.fetch_sub(sent, std::memory_order_relaxed);  // a hint
    moved |= sent != 0;
  }
  flushed_at_ticks_.store(ticks(), std::memory_order_relaxed);  // a hint
  return moved;
}

bool backplane::progress(lane& by) {
  if (turn_.test_and_set(std::memory_order_acquire)) {   // pairs with the clear below
    refused_.exchange(true, std::memory_order_acq_rel);  // pairs with the exchange of the next turn
    return false;
  }
  if (refused_.load(std::memory_order_relaxed)) {         // a miss leaves it to the next turn
    refused_.exchange(false, std::memory_order_acq_rel);  // what woke those refused before is seen below
  }
  bool moved = flush();
  message_list arrived;
  if (waiting_.load(std::memory_order_relaxed) != 0) {  // a hint, as in flush
    outbox& own = outboxes_[rank_.value()];
    const std::scoped_lock lock(own.mutex);
    waiting_.fetch_sub(own.waiting.size(), std::memory_order_relaxed);  // a hint
    arrived.append(own.waiting);
  }
  moved |= link_->poll(arrived, messages_a_turn);
  if (!arrived.empty()) {
    moved = true;
    sink_->deliver(by, arrived);
    flush();
  }
  if (declared_.separate_processes) {
    while (const auto failure = link_->failed()) sink_->peer_failed(*failure);
  }
  run_due(by);
  turn_.clear(std::memory_order_release);  // pairs with the next test_and_set
  return moved;
}

void backplane::wait(std::chrono::nanoseconds timeout) {
  // The turn that refused somebody may be past its look at what that one was woken for, and its owner may sleep next.
  if (refused_.load(std::memory_order_relaxed)) {  // cleared only by a turn that sees what was there at the refusal
    std::this_thread::yield();
    return;
  }
  timeout = std::min(timeout, next_due() - time_.now());
  if (timeout > std::chrono::nanoseconds::zero()) link_->wait(timeout);
}

void backplane::add_timer(std::chrono::nanoseconds first, std::function<std::chrono::nanoseconds(lane&)> action) {
  timers_.push_back({time_.now() + first, std::move(action)});
  timers_due_ = std::min(timers_due_, timers_.back().due);
  next_due_ns_ = timers_due_.count();
}

void backplane::run_due(lane& by) {
  if (!timers_.empty() && time_.now() >= timers_due_) run_timers(by);
  std::chrono::nanoseconds next = timers_due_;
  for (const auto& hook : hooks_) next = std::min(next, hook(by));
  if (next.count() != next_due_ns_.load(std::memory_order_relaxed)) {  // written under this turn
    next_due_ns_.store(next.count(), std::memory_order_release);       // pairs with the acquire in next_due
  }
}

void backplane::run_timers(lane& by) {
  const auto now = time_.now();
  timers_due_ = std::chrono::nanoseconds::max();
  for (timer& each : timers_) {
    if (each.due <= now) each.due = now + each.action(by);
    timers_due_ = std::min(timers_due_, each.due);
  }
}

void backplane::close(std::chrono::nanoseconds timeout) {
  flush();
  link_->close(timeout);
}

}  // namespace nacre
