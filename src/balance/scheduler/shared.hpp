// SPDX-License-Identifier: Apache-2.0
// The scheduler `shared`: one queue for all workers of a rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include <nacre/scheduler.hpp>

namespace nacre {

/// All thread contexts push to one queue, and every worker takes the oldest of the whole rank. Fair, and best for few workers or
/// long handlers; short ones wait for its lock.
///
/// Under pressure what handlers make is kept apart: under backlog the newest of it comes first, except once in
/// `pops_between_looks`; under unsent it is left alone. It comes first until it is used up.
class shared_scheduler final : public scheduler {
 public:
  static constexpr std::uint32_t pops_between_looks = 32;

  explicit shared_scheduler(const scheduler_site& site);
  void push(worker_id by, work& item) override;
  [[nodiscard]] work* pop(worker_id by) override;
  void push_made(worker_id by, work& item) override;
  void set_pressure(worker_id by, pressure now) override;
  [[nodiscard]] std::size_t waiting(worker_id by) const override;
  [[nodiscard]] bool visit_waiting(work_visitor& visitor, std::size_t most) override;

 private:
  [[nodiscard]] work* take_locked(pressure felt);

  std::mutex mutex_;
  std::deque<work*> items_;            // under the mutex; the oldest in front
  std::deque<work*> made_;             // under the mutex; under pressure, the newest at the back
  std::vector<pressure> felt_;         // each by its worker only
  std::uint32_t pops_ = 0;             // under the mutex; since made_ was passed over
  std::atomic<std::size_t> count_{0};  // of both; a hint, and what a look without the lock goes by
};

}  // namespace nacre
