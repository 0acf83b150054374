// SPDX-License-Identifier: Apache-2.0
// One queue behind a lock.
#include "balance/scheduler/shared.hpp"

namespace nacre {

shared_scheduler::shared_scheduler(const scheduler_site& site) : pressures_(site.threads(), pressure::none) {}

void shared_scheduler::push(worker_id, work& item) {
  const std::scoped_lock lock(mutex_);
  items_.push_back(&item);
  ++count_;
}

void shared_scheduler::push_made(worker_id worker, work& item) {
  if (pressures_[worker.value()] == pressure::none) return push(worker, item);
  const std::scoped_lock lock(mutex_);
  made_.push_back(&item);
  ++count_;
}

void shared_scheduler::set_pressure(worker_id worker, pressure now) { pressures_[worker.value()] = now; }

work* shared_scheduler::pop(worker_id worker) {
  if (count_ == 0) return nullptr;
  const std::scoped_lock lock(mutex_);
  work* const item = take_locked(pressures_[worker.value()]);
  if (item != nullptr) --count_;
  return item;
}

work* shared_scheduler::take_locked(pressure now) {
  const bool may_take_made = now != pressure::unsent && !made_.empty();
  if (may_take_made && (items_.empty() || ++pops_ < pops_between_looks)) {
    work* const newest = made_.back();
    made_.pop_back();
    return newest;
  }
  pops_ = 0;
  if (items_.empty()) return nullptr;
  work* const oldest = items_.front();
  items_.pop_front();
  return oldest;
}

bool shared_scheduler::visit_waiting(work_visitor& visitor, std::size_t most) {
  std::vector<work*> stale;
  {
    const std::scoped_lock lock(mutex_);
    std::size_t left = most;
    const auto show = [&](auto& items) {
      std::size_t kept = 0, seen = 0;  // seen items are moved together, and stale ones removed
      bool more = true;
      for (; more && seen < items.size() && left > 0; ++seen, --left) {
        work* const item = items[seen];
        const auto verdict = visitor.look(*item);
        more = verdict != work_visitor::verdict::enough;
        if (verdict == work_visitor::verdict::stale) {
          stale.push_back(item);
        } else {
          items[kept++] = item;
        }
      }
      for (std::size_t back = 0; back < kept; ++back) items[seen - 1 - back] = items[kept - 1 - back];
      const auto gone = static_cast<std::ptrdiff_t>(seen - kept);
      items.erase(items.begin(), items.begin() + gone);
      return more;
    };
    if (show(items_)) static_cast<void>(show(made_));
    count_ -= stale.size();
  }
  for (work* const each : stale) visitor.taken_out(*each);
  return true;
}

std::size_t shared_scheduler::waiting(worker_id) const { return count_.load(std::memory_order_relaxed); }  // a hint

}  // namespace nacre
