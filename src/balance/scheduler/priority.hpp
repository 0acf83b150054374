// SPDX-License-Identifier: Apache-2.0
// The scheduler `priority`: the item of the highest priority first; the program sets priorities.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <nacre/scheduler.hpp>

namespace nacre {

/// One queue for all workers of a rank. A worker takes the item of the highest priority, and the oldest among equals.
/// The priority of an item is the result of the site's priority_of when the item is pushed; NaN counts as 0. Under
/// pressure::unsent the items that handlers make wait. Under pressure::backlog nothing changes, since the program alone
/// sets the order.
class priority_scheduler final : public scheduler {
 public:
  explicit priority_scheduler(const scheduler_site& site);
  void push(worker_id worker, work& item) override;
  [[nodiscard]] work* pop(worker_id worker) override;
  void push_made(worker_id worker, work& item) override;
  void set_pressure(worker_id worker, pressure now) override;
  [[nodiscard]] std::size_t waiting(worker_id worker) const override;
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) override;

 private:
  struct waiting_item {
    double priority;
    std::uint64_t number;  // of the push
    work* item;
  };
  static bool less_urgent(const waiting_item& a, const waiting_item& b) noexcept;
  void add(std::vector<waiting_item>& waiting_items, work& item);
  [[nodiscard]] static work* take_first(std::vector<waiting_item>& waiting_items) noexcept;

  const std::function<double(const work& item)> priority_of_;
  std::mutex mutex_;
  std::vector<waiting_item> items_;    // under the mutex; a heap, as is made_
  std::vector<waiting_item> made_;     // under the mutex; made by handlers on a worker under pressure::unsent
  std::uint64_t pushed_ = 0;           // under the mutex
  std::vector<pressure> pressures_;    // of each thread; only that thread uses its element
  std::atomic<std::size_t> count_{0};  // items in both heaps; lets pop return early without the lock
};

}  // namespace nacre
