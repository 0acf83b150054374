// SPDX-License-Identifier: Apache-2.0
// Counting the messages between objects, for balancers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "am/am_engine.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/entry/traffic_sketch.hpp"

namespace nacre {

/// Counts per sending object, in a sketch of fixed size (traffic_sketch.hpp). Costs one branch while nobody asks.
class traffic_counter {
 public:
  traffic_counter(rank_id rank, const nacre::homes& homes, directory& entries) noexcept
      : rank_(rank), homes_(homes), entries_(entries) {}

  /// Whether messages that handlers of objects send to other objects are counted from now on. Any thread: a request,
  /// which orders nothing.
  void count(bool is_on) noexcept { counts_.store(is_on, std::memory_order_relaxed); }
  /// Messages counted from now on belong to this epoch; see traffic_sketch. Poll loop.
  void begin_epoch(std::uint32_t number) noexcept { epoch_.store(number, std::memory_order_relaxed); }
  /// Counts `m` for the object that sends it, before `m` is posted: the object with a handler on this thread, or none.
  /// While nothing is counted it costs one branch.
  void note(thread_context& thread, const detail::object_pair& ends, const message& m) {
    if (counts_.load(std::memory_order_relaxed)) [[unlikely]] {
      if (ends.source.valid() && ends.target.valid() && ends.source != ends.target) count(thread, ends, m);
    }
  }
  /// Calls visit(partner, its believed location) for the objects to which an object of this rank has sent most lately,
  /// in the order of ids. Leaves out objects known to be gone. Poll loop.
  void visit(object_id object, const std::function<void(const traffic_partner&, rank_id)>& visit) const;

 private:
  void count(thread_context& thread, const detail::object_pair& ends, const message& m);

  const rank_id rank_;
  const nacre::homes& homes_;
  directory& entries_;
  std::atomic<bool> counts_{false};      // see count
  std::atomic<std::uint32_t> epoch_{0};  // a number alone
};

}  // namespace nacre
