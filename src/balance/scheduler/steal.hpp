// SPDX-License-Identifier: Apache-2.0
// The default scheduler: a queue for each thread_index, and stealing from random others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/scheduler.hpp>

#include "balance/scheduler/ready_deque.hpp"
#include "balance/scheduler/victims.hpp"
#include "base/rng.hpp"

namespace nacre {

/// Every thread_index pushes to its own deque. A worker takes the oldest of its own, so that messages of one rank start in the
/// order in which they arrived, then the oldest of other thread contexts, nearest first, beginning with a random one of them.
/// Lanes: workers, application, poll loop. The last two have no worker of their own, so once in `pops_between_looks` a
/// worker looks there first: else workers whose handlers keep sending to themselves would never come to what main has
/// sent or the poll loop received.
///
/// A worker keeps new objects that its handlers make apart and *lifo_mode*: it takes the newest first, yet what one item
/// has made in the order made. So a tree of work needs room for its depth instead of its width, and what another rank
/// gets, the oldest, are its large parts. Under pressure a worker keeps all that its handlers make apart.
///
/// | worker | takes | until |
/// |---|---|---|
/// | not diving | the oldest | a handler makes an object; pressure |
/// | diving | the newest made, at every n-th turn the oldest | no pressure, and nothing kept apart |
/// | diving under pressure::unsent | the oldest; nothing that is kept apart | that is over |
///
/// n is 32; or, up to 1024, as much as was kept apart at the last look for each item that waited beside it, so that a
/// handler that makes hundreds of objects and sends to itself does not make more before these have begun. It is 2 while
/// more than twice as much (and 32) waits beside what is kept apart, so that what handlers send to objects that exist
/// does not pile up. Under pressure::backlog it is eight times what is kept apart, if that is more than 32: each of the
/// oldest begins another tree on top. Every 32nd turn looks at what main has sent and the poll loop received.
class steal_scheduler final : public scheduler {
 public:
  static constexpr std::uint32_t pops_between_looks = 32;
  static constexpr std::uint32_t pops_until_look_max = 1024;

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
    ready_deque made{2};            // while the thread_index lifo_mode
    std::size_t just_made = 0;      // owner only: of `made`, by the item that runs
    std::vector<work*> turned;      // owner only: scratch of put_in_order
    pressure now = pressure::none;  // owner only
    bool lifo_mode = false;         // owner only
    bool keeps_apart = false;       // owner only: whatever its handlers make, not only new objects
    rng random;
    std::uint64_t steals = 0;                          // owner only
    std::optional<worker_id> victim;                   // owner only: of the last of them
    std::uint32_t pops = 0;                            // owner only
    std::size_t pops_until_look = pops_between_looks;  // owner only: to the next look at the oldest
  };

  void keep_apart(thread_queue& own, work& item);
  void put_in_order(thread_queue& own);
  [[nodiscard]] work* pop_lifo(worker_id by, thread_queue& own);
  [[nodiscard]] static std::size_t pops_until_look(const thread_queue& own, std::size_t kept) noexcept;
  [[nodiscard]] work* take_ownerless(worker_id by);
  [[nodiscard]] work* steal(worker_id by, thread_queue& own, bool also_made);
  [[nodiscard]] bool empty() const noexcept;

  std::vector<std::unique_ptr<thread_queue>> queues_;
  victims victims_;
  const work::runner readable_;
  std::size_t looked_at_ = 0;  // poll loop: the thread_index that the last look began with
};

}  // namespace nacre
