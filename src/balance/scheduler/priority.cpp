// SPDX-License-Identifier: Apache-2.0
// One heap behind a lock.
#include "balance/scheduler/priority.hpp"

#include <algorithm>
#include <cmath>

namespace nacre {

priority_scheduler::priority_scheduler(const scheduler_site& site)
    : priority_of_(site.priority_of), pressures_(site.threads(), pressure::none) {}

bool priority_scheduler::less_urgent(const waiting_item& a, const waiting_item& b) noexcept {
  return a.priority < b.priority || (a.priority == b.priority && a.number > b.number);
}

void priority_scheduler::add(std::vector<waiting_item>& waiting_items, work& item) {
  const double declared = priority_of_(item);
  const std::scoped_lock lock(mutex_);
  waiting_items.push_back({std::isnan(declared) ? 0 : declared, pushed_++, &item});
  std::push_heap(waiting_items.begin(), waiting_items.end(), &less_urgent);
  ++count_;
}

void priority_scheduler::push(worker_id, work& item) { add(items_, item); }

void priority_scheduler::push_made(worker_id worker, work& item) {
  add(pressures_[worker.value()] == pressure::unsent ? made_ : items_, item);
}

void priority_scheduler::set_pressure(worker_id worker, pressure now) { pressures_[worker.value()] = now; }

work* priority_scheduler::take_first(std::vector<waiting_item>& waiting_items) noexcept {
  std::pop_heap(waiting_items.begin(), waiting_items.end(), &less_urgent);
  work* const item = waiting_items.back().item;
  waiting_items.pop_back();
  return item;
}

work* priority_scheduler::pop(worker_id worker) {
  if (count_ == 0) return nullptr;
  const std::scoped_lock lock(mutex_);
  const bool may_take_made = pressures_[worker.value()] != pressure::unsent && !made_.empty();
  if (items_.empty() && !may_take_made) return nullptr;
  --count_;
  if (may_take_made && (items_.empty() || less_urgent(items_.front(), made_.front()))) return take_first(made_);
  return take_first(items_);
}

/// Shows only leaves, from the last one on: the last elements of a heap are leaves, and so of its less urgent part. A
/// stale leaf is replaced by the last element, which can only be too urgent for its new place; push_heap mends that.
bool priority_scheduler::visit_waiting(work_visitor& visitor, std::size_t most) {
  std::vector<work*> stale;
  {
    const std::scoped_lock lock(mutex_);
    std::size_t left = most;
    const auto show = [&](std::vector<waiting_item>& heap) {
      const std::size_t leaves = heap.size() / 2;
      for (std::size_t index = heap.size(); index > leaves && left > 0; --left) {
        const auto verdict = visitor.look(*heap[--index].item);
        if (verdict == work_visitor::verdict::enough) return false;
        if (verdict != work_visitor::verdict::stale) continue;
        stale.push_back(heap[index].item);
        heap[index] = heap.back();
        heap.pop_back();
        if (index < heap.size()) {
          std::push_heap(heap.begin(), heap.begin() + static_cast<std::ptrdiff_t>(index) + 1, &less_urgent);
        }
      }
      return true;
    };
    if (show(items_)) static_cast<void>(show(made_));
    count_ -= stale.size();
  }
  for (work* const each : stale) visitor.taken_out(*each);
  return true;
}

std::size_t priority_scheduler::waiting(worker_id) const { return count_.load(std::memory_order_relaxed); }  // a hint

}  // namespace nacre
