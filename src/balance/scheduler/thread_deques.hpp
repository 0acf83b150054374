// SPDX-License-Identifier: Apache-2.0
// What schedulers with a queue for each thread_index have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/rng.hpp>
#include <nacre/scheduler.hpp>

#include "balance/scheduler/ready_deque.hpp"
#include "balance/scheduler/victims.hpp"

namespace nacre {

/// Every thread_index pushes to its own deque. The application and the poll loop have no worker of their own, so once in
/// `pops_between_looks` a worker looks there first: else workers whose handlers keep sending to themselves would never
/// come to what main has sent or the poll loop received.
class thread_deques : public scheduler {
 public:
  static constexpr std::uint32_t pops_between_looks = 32;

  explicit thread_deques(const scheduler_site& site);
  void push(worker_id by, work& item) final { queues_[by.value()]->items.push(item, item.runs_by(readable_)); }
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) final;
  [[nodiscard]] std::size_t waiting(worker_id by) const final { return queues_[by.value()]->items.size_estimate(); }
  [[nodiscard]] std::uint64_t steals(worker_id by) const final { return queues_[by.value()]->steals; }
  [[nodiscard]] std::optional<worker_id> last_victim(worker_id by) const final { return queues_[by.value()]->victim; }

 protected:
  struct alignas(64) thread_queue {
    explicit thread_queue(rng r) : random(r) {}
    ready_deque items;
    rng random;                       // owner only
    std::uint64_t steals = 0;         // owner only
    std::optional<worker_id> victim;  // owner only: of the last of them
    std::uint32_t pops = 0;           // owner only
  };

  [[nodiscard]] thread_queue& own(worker_id by) noexcept { return *queues_[by.value()]; }
  /// Counts a turn of the worker; true once in `pops_between_looks`.
  [[nodiscard]] bool looks_around(worker_id by) noexcept;
  /// The oldest of the thread contexts that have no worker.
  [[nodiscard]] work* take_ownerless(worker_id by) noexcept;
  /// The oldest of another thread_index; null only when all were seen empty.
  [[nodiscard]] work* steal(worker_id by);

 private:
  std::vector<std::unique_ptr<thread_queue>> queues_;
  victims victims_;
  const work::runner readable_;
  std::size_t looked_at_ = 0;  // poll loop: the thread_index that the last look began with
};

}  // namespace nacre
