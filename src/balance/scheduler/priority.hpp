// SPDX-License-Identifier: Apache-2.0
// The scheduler `priority`: what the program calls most urgent first.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <nacre/scheduler.hpp>

namespace nacre {

/// One queue of a rank, from which a worker takes the item of the highest priority, and the oldest of those. A priority
/// is what the site's priority_of said when the item was pushed; one that is no number counts as 0. Under
/// pressure::unsent what handlers make now waits; under backlog nothing changes, as the order is the program's.
class priority_scheduler final : public scheduler {
 public:
  explicit priority_scheduler(const scheduler_site& site);
  void push(worker_id by, work& item) override;
  [[nodiscard]] work* pop(worker_id by) override;
  void push_made(worker_id by, work& item) override;
  void set_pressure(worker_id by, pressure now) override;
  [[nodiscard]] std::size_t waiting(worker_id by) const override;
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) override;

 private:
  struct waiting_item {
    double priority;
    std::uint64_t number;  // of the push
    work* item;
  };
  static bool less_urgent(const waiting_item& a, const waiting_item& b) noexcept;
  void add(std::vector<waiting_item>& to, work& item);
  [[nodiscard]] static work* take_first(std::vector<waiting_item>& from) noexcept;

  const std::function<double(const work& item)> priority_of_;
  std::mutex mutex_;
  std::vector<waiting_item> items_;    // under the mutex; a heap, as is made_
  std::vector<waiting_item> made_;     // under the mutex; by handlers of workers that felt pressure::unsent
  std::uint64_t pushed_ = 0;           // under the mutex
  std::vector<pressure> felt_;         // each by its worker only
  std::atomic<std::size_t> count_{0};  // of both; a hint, and what a look without the lock goes by
};

}  // namespace nacre
