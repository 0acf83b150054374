// SPDX-License-Identifier: Apache-2.0
// The scheduler `shared`: one queue for all workers of a rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include <nacre/scheduler.hpp>

namespace nacre {

/// All threads push to one queue, and every worker takes the oldest item of the whole rank. Fair, and best for few
/// workers or long handlers; with short handlers workers wait for the lock.
///
/// Under pressure, items that handlers make are kept in a second queue. While that holds any, its newest item comes
/// first, except once in `pops_between_looks` pops. Under pressure::unsent a worker takes none of them.
class shared_scheduler final : public scheduler {
 public:
  static constexpr std::uint32_t pops_between_looks = 32;

  explicit shared_scheduler(const scheduler_site& site);
  void push(worker_id worker, work& item) override;
  [[nodiscard]] work* pop(worker_id worker) override;
  void push_made(worker_id worker, work& item) override;
  void set_pressure(worker_id worker, pressure now) override;
  [[nodiscard]] std::size_t waiting(worker_id worker) const override;
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) override;

 private:
  [[nodiscard]] work* take_locked(pressure now);

  std::mutex mutex_;
  std::deque<work*> items_;            // under the mutex; the oldest in front
  std::deque<work*> made_;             // under the mutex; made by handlers under pressure, the newest at the back
  std::vector<pressure> pressures_;    // of each thread; only that thread uses its element
  std::uint32_t pops_ = 0;             // under the mutex; pops from made_ since the last pop from items_
  std::atomic<std::size_t> count_{0};  // items in both queues; lets pop return early without the lock
};

}  // namespace nacre
