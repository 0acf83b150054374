// SPDX-License-Identifier: Apache-2.0
// The deque of one thread; balancers may read the items in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nacre/scheduler.hpp>

#include "base/ws_deque.hpp"

namespace nacre {

/// A work-stealing deque of items. Invariant: visit() touches only readable items. While visit() reads an item, another
/// thread may pop, run and free it. A readable item is freed only after every present reader of the directory has
/// finished (epoch.hpp), and the caller of visit() is such a reader. The lowest bit of the pointer says whether the
/// item is readable.
class ready_deque {
 public:
  explicit ready_deque(std::size_t capacity) : items_(capacity) {}

  /// Owner only.
  void push(work& item, bool readable) {
    items_.push(reinterpret_cast<work*>(reinterpret_cast<std::uintptr_t>(&item) | (readable ? readable_bit : 0)));
  }
  /// Owner only; null when there is none.
  [[nodiscard]] work* take_newest() noexcept { return item_of(items_.take_newest()); }
  /// Null only if the deque was seen empty. Any thread.
  [[nodiscard]] work* take_oldest() noexcept {
    work* item = nullptr;
    steal_result result;
    do {
      result = items_.take_oldest(item);
    } while (result == steal_result::lost_race);
    return result == steal_result::taken ? item_of(item) : nullptr;
  }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size_estimate() const noexcept { return items_.size_estimate(); }

  /// Shows items to the visitor, the oldest first. Removes stale items as long as they are the oldest. `left` counts
  /// down with each item. Returns false when the visitor has seen enough or `left` is 0. The caller is a reader of the
  /// directory; one call at a time.
  [[nodiscard]] bool visit(work_visitor& visitor, std::size_t& left) {
    for (std::size_t index = 0; left > 0;) {
      work* const item = items_.peek(index);
      if (item == nullptr) return true;
      --left;
      auto verdict = work_visitor::verdict::go_on;
      if ((reinterpret_cast<std::uintptr_t>(item) & readable_bit) != 0) verdict = visitor.look(*item_of(item));
      if (verdict == work_visitor::verdict::enough) return false;
      if (verdict == work_visitor::verdict::stale && index == 0 && items_.take_if_oldest(item)) {
        visitor.taken_out(*item_of(item));
      } else {
        ++index;
      }
    }
    return false;
  }

 private:
  static constexpr std::uintptr_t readable_bit = 1;
  static_assert(alignof(work) > readable_bit);
  [[nodiscard]] static work* item_of(work* kept) noexcept {
    return reinterpret_cast<work*>(reinterpret_cast<std::uintptr_t>(kept) & ~readable_bit);
  }

  ws_deque<work> items_;
};

/// Calls visit_queue(index, left) for one thread's queue after the other until it returns false. Each call begins with
/// another queue, so that the items of each are seen at some time. One caller at a time.
template <class VisitQueue>
void visit_queues(std::size_t count, std::size_t& first, std::size_t most, VisitQueue visit_queue) {
  first = (first + 1) % count;
  std::size_t left = most;
  for (std::size_t each = 0; each < count; ++each) {
    if (!visit_queue((first + each) % count, left)) return;
  }
}

}  // namespace nacre
