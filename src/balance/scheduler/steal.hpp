// SPDX-License-Identifier: Apache-2.0
// The default scheduler: a deque for each thread, and stealing from random others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/scheduler.hpp>

#include "balance/scheduler/ready_deque.hpp"
#include "balance/scheduler/victims.hpp"
#include "base/rng.hpp"

namespace nacre {

/// Every thread pushes to its own deque: workers, application thread, poll loop. A worker takes the oldest item of its
/// own deque, so that messages of one rank start in the order in which they arrived. If that deque is empty it takes
/// the oldest item of another thread: the nearest first, from a random start among equally near ones. The application
/// thread and the poll loop never pop, so once in `pops_between_looks` pops a worker looks at their deques first.
/// Otherwise messages that main has sent or the poll loop has received would wait for ever while handlers keep sending
/// to themselves.
///
/// New objects that a worker's handlers make go to a second deque, `made`, and put the worker into *LIFO mode*: it
/// takes the newest item of `made` first, but items that one item has made in the order made. So a tree of work needs
/// memory for its depth instead of its width, and other ranks, which get the oldest items, get its large parts. Under
/// pressure all items that a worker's handlers make go to its `made`.
///
/// | worker | takes | until |
/// |---|---|---|
/// | FIFO mode | the oldest item | a handler makes an object, or pressure begins |
/// | LIFO mode | the newest of `made`, at every n-th pop the oldest item | no pressure, and `made` is empty |
/// | LIFO mode, pressure::unsent | the oldest item; none of `made` | that pressure ends |
///
/// n bounds how long the oldest item waits, and how much collects meanwhile:
///
/// | n | while | reason |
/// |---|---|---|
/// | 32 to 1024: `made` at the last look, a share for each item that waited then | else | see below |
/// | 2 | twice as many items as in `made` wait, and 32 | messages to existing objects do not pile up |
/// | eight times the size of `made`, at least 32 | pressure::backlog | each of the oldest begins another tree on top |
///
/// So a handler that makes hundreds of objects and sends to itself makes no more before these have begun. Every 32nd
/// pop looks at the deques of the application thread and the poll loop, whatever n is.
class steal_scheduler final : public scheduler {
 public:
  static constexpr std::uint32_t pops_between_looks = 32;
  static constexpr std::uint32_t pops_until_oldest_max = 1024;

  explicit steal_scheduler(const scheduler_site& site);
  void push(worker_id by, work& item) override;
  [[nodiscard]] work* pop(worker_id by) override;
  void push_made(worker_id by, work& item) override;
  void push_first(worker_id by, work& item) override;
  void set_pressure(worker_id by, pressure now) override;
  [[nodiscard]] std::size_t waiting(worker_id by) const override;
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) override;
  [[nodiscard]] std::uint64_t steals(worker_id by) const override { return queues_[by.value()]->steals; }
  [[nodiscard]] std::optional<worker_id> last_victim(worker_id by) const override {
    return queues_[by.value()]->victim;
  }

 private:
  struct alignas(64) thread_queue {
    explicit thread_queue(rng r) : random(r) {}
    ready_deque items;
    ready_deque made{2};            // empty in FIFO mode
    std::size_t just_made = 0;      // owner only: items pushed to `made` by the item that runs
    std::vector<work*> reversed;    // owner only: scratch of put_in_order
    pressure now = pressure::none;  // owner only
    bool lifo_mode = false;         // owner only
    bool all_to_made = false;       // owner only: all items of its handlers go to `made`, not only new objects
    rng random;
    std::uint64_t steals = 0;                            // owner only
    std::optional<worker_id> victim;                     // owner only: of the last of them
    std::uint32_t pops = 0;                              // owner only
    std::size_t pops_until_oldest = pops_between_looks;  // owner only: to the next look at the oldest
  };

  void push_to_made(thread_queue& own, work& item);
  void put_in_order(thread_queue& own);
  [[nodiscard]] work* pop_lifo(worker_id by, thread_queue& own);
  [[nodiscard]] static std::size_t pops_until_oldest(const thread_queue& own, std::size_t kept) noexcept;
  [[nodiscard]] work* take_ownerless(worker_id by);
  [[nodiscard]] work* steal(worker_id by, thread_queue& own, bool also_made);
  [[nodiscard]] bool empty() const noexcept;

  std::vector<std::unique_ptr<thread_queue>> queues_;
  victims victims_;
  const work::runner readable_;
  std::size_t looked_at_ = 0;  // poll loop: index of the queue with which the last look began
};

}  // namespace nacre
