// SPDX-License-Identifier: Apache-2.0
// Base of the schedulers that have a deque for each thread of a rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <nacre/rng.hpp>
#include <nacre/scheduler.hpp>

#include "balance/scheduler/ready_deque.hpp"
#include "balance/scheduler/victims.hpp"

namespace nacre {

/// The items that one thread has pushed, and its notes about the items that it has taken.
struct alignas(64) thread_queue {
  static constexpr std::uint32_t pops_between_looks = 32;

  /// `capacity`: of the deque before it first grows.
  thread_queue(rng r, std::size_t capacity) : items(capacity), random(r) {}
  /// Whether it was seen empty.
  [[nodiscard]] bool empty() const noexcept { return items.empty(); }
  [[nodiscard]] std::size_t size_estimate() const noexcept { return items.size_estimate(); }
  /// As ready_deque::visit.
  [[nodiscard]] bool visit(work_visitor& visitor, std::size_t& left) { return items.visit(visitor, left); }

  ready_deque items;
  rng random;                       // owner only
  std::uint64_t steals = 0;         // owner only
  std::optional<worker_id> victim;  // owner only: of the last steal
  std::uint32_t pops = 0;           // owner only
};

/// Every thread pushes to its own deque: workers, application thread, poll loop. The application thread and the poll
/// loop never pop. So once in `pops_between_looks` pops a worker looks at their deques first. Otherwise messages that
/// main has sent or the poll loop has received would wait for ever while handlers keep sending to themselves.
/// `Queue` is a thread_queue, or derives from it and adds deques.
template <class Queue>
class thread_deques : public scheduler {
 public:
  static constexpr std::uint32_t pops_between_looks = Queue::pops_between_looks;
  /// The capacities of new deques. A simulated job has so many threads that only those that get items take memory.
  static constexpr std::size_t usual_items = 256, simulated_items = 4;

  explicit thread_deques(const scheduler_site& site) : victims_(site), readable_(site.readable) {
    const rng seeds(site.seed);
    for (std::uint32_t index = 0; index < site.threads(); ++index) {
      queues_.push_back(std::make_unique<Queue>(seeds.fork(index), site.simulated ? simulated_items : usual_items));
    }
  }
  void push(worker_id worker, work& item) final { queue_of(worker).items.push(item, is_readable(item)); }
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) final {
    visit_queues(queues_.size(), looked_at_, most, [&](std::size_t thread_index, std::size_t& left) {
      return queues_[thread_index]->visit(visitor, left);
    });
    return true;
  }
  [[nodiscard]] std::size_t waiting(worker_id worker) const final { return queues_[worker.value()]->size_estimate(); }
  [[nodiscard]] std::uint64_t steals(worker_id worker) const final { return queues_[worker.value()]->steals; }
  [[nodiscard]] std::optional<worker_id> last_victim(worker_id worker) const final {
    return queues_[worker.value()]->victim;
  }

 protected:
  [[nodiscard]] Queue& queue_of(worker_id worker) noexcept { return *queues_[worker.value()]; }
  /// Whether balancers may read the item in a deque.
  [[nodiscard]] bool is_readable(const work& item) const noexcept { return item.runs_by(readable_); }
  /// Counts a pop of the worker; true once in `pops_between_looks`.
  [[nodiscard]] static bool looks_around(Queue& own_queue) noexcept {
    if (++own_queue.pops < pops_between_looks) return false;
    own_queue.pops = 0;
    return true;
  }

  /// Takes the oldest item of a thread that never pops; null if there is none.
  [[nodiscard]] work* take_ownerless(worker_id worker) noexcept {
    const std::size_t count = queues_.size();
    for (std::size_t ownerless = count - threads_beside_workers; ownerless < count; ++ownerless) {
      if (ownerless == worker.value() || queues_[ownerless]->items.size_estimate() == 0) continue;
      if (work* const item = queues_[ownerless]->items.take_oldest()) return item;
    }
    return nullptr;
  }

  /// Takes an item of another thread by take(queue), which returns null for a queue with nothing to take. Null only if
  /// all queues gave nothing.
  template <class Take>
  [[nodiscard]] work* steal(worker_id worker, Queue& own_queue, Take take) {
    if (!victims_.by_distance() && all_empty()) {  // a fast path for a worker that polls
      static_cast<void>(own_queue.random.next());  // as a visit would draw: simulations depend on the seed alone
      return nullptr;
    }
    work* const item = victims_.visit(worker, own_queue.random, [&](std::uint32_t victim) {
      work* const taken = take(*queues_[victim]);
      if (taken != nullptr) own_queue.victim = worker_id(victim);
      return taken;
    });
    if (item != nullptr) ++own_queue.steals;
    return item;
  }
  /// Takes the oldest item of another thread; null only if all deques were seen empty.
  [[nodiscard, gnu::noinline]] work* steal(worker_id worker) {
    return steal(worker, queue_of(worker), [](Queue& source) { return source.items.take_oldest(); });
  }

 private:
  [[nodiscard]] bool all_empty() const noexcept {
    return std::all_of(queues_.begin(), queues_.end(), [](const auto& each) { return each->empty(); });
  }

  std::vector<std::unique_ptr<Queue>> queues_;
  victims victims_;
  const work::runner readable_;
  std::size_t looked_at_ = 0;  // poll loop: index of the queue with which the last look began
};

}  // namespace nacre
