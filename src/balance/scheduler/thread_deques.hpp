// SPDX-License-Identifier: Apache-2.0
// Base of the schedulers that have a deque for each thread of a rank.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/rng.hpp>
#include <nacre/scheduler.hpp>

#include "balance/scheduler/ready_deque.hpp"
#include "balance/scheduler/victims.hpp"

namespace nacre {

/// Every thread pushes to its own deque. The application thread and the poll loop never pop. So once in
/// `pops_between_looks` pops a worker looks at their deques first. Otherwise messages that main has sent or the poll
/// loop has received would wait for ever while handlers keep sending to themselves.
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
    std::optional<worker_id> victim;  // owner only: of the last steal
    std::uint32_t pops = 0;           // owner only
  };

  [[nodiscard]] thread_queue& own(worker_id by) noexcept { return *queues_[by.value()]; }
  /// Counts a pop of the worker; true once in `pops_between_looks`.
  [[nodiscard]] bool looks_around(worker_id by) noexcept;
  /// Takes the oldest item of a thread that never pops; null if there is none.
  [[nodiscard]] work* take_ownerless(worker_id by) noexcept;
  /// Takes the oldest item of another thread; null only if all deques were seen empty.
  [[nodiscard]] work* steal(worker_id by);

 private:
  std::vector<std::unique_ptr<thread_queue>> queues_;
  victims victims_;
  const work::runner readable_;
  std::size_t looked_at_ = 0;  // poll loop: index of the deque with which the last look began
};

}  // namespace nacre
