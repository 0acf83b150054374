// SPDX-License-Identifier: Apache-2.0
// How balancers and schedulers see the objects of a rank: by the items in its scheduler, by declared loads, by a walk.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/object_functions.hpp"
#include "mobile/object/handler_costs.hpp"
#include "mobile/object/load_index.hpp"

namespace nacre {

/// An object as a balancer sees it: an estimate of a moment ago.
struct object_estimate {
  object_id id;
  double declared;           ///< load; 0 if its class declares none
  double declared_cost;      ///< seconds that its class adds to those of a migration
  std::size_t packed_bytes;  ///< of a large object, as far as known; else 0
  double handler_seconds;    ///< of one waiting message on other objects, on average; 0 as long as none is measured
  double message_seconds;    ///< of one waiting message, on average; 0 until one of its kind has been measured
  std::uint32_t messages;    ///< that wait; those that have just arrived count as one
  bool running;              ///< a handler runs on it
  bool stays;                ///< it refuses to move, or cannot yet
};

/// Activations write the estimates, the poll loop reads them.
class balancer_view {
 public:
  balancer_view(am_engine& messages, directory& entries, const array_table& arrays, const handler_costs& costs) noexcept
      : messages_(messages), entries_(entries), arrays_(arrays), costs_(costs) {}

  /// Classifies an item that a scheduler has shown: `object` is an object on which nothing runs, described in
  /// `estimate`, and that no balancer has sent away; `stale` is an item that will do nothing when it runs; `none` is
  /// any other item. Readers of the directory.
  enum class shown : std::uint8_t { none, object, stale };
  [[nodiscard]] shown look_at(const work& item, object_estimate& estimate) const;
  /// Describes an object by its name in `estimate`. False: the object is not here, or could not leave.
  [[nodiscard]] bool look_at(object_id object, object_estimate& estimate) const;
  /// How many items in the scheduler are stale because a balancer has sent their objects away. An estimate.
  [[nodiscard]] std::size_t stale_items() const noexcept {
    return static_cast<std::size_t>(std::max<std::int64_t>(stale_.load(std::memory_order_relaxed), 0));
  }
  void note_stale(int change) noexcept { stale_.fetch_add(change, std::memory_order_relaxed); }  // an estimate
  /// Calls visit(object_estimate) for the objects in the next `words` words of the directory, from `cursor` on, that
  /// run, have messages waiting or declare a load, and that no balancer has sent away. True: the call has seen the
  /// whole directory.
  bool visit_loads(std::size_t& cursor, std::size_t words,
                   const std::function<void(const object_estimate&)>& visit) const;
  /// How many objects here declare a load.
  [[nodiscard]] std::size_t declaring() const noexcept { return declared_.size(); }
  /// The sum of their loads as last noted: within an eighth of their present loads.
  [[nodiscard]] double declared_sum() { return declared_.sum(); }
  /// Calls visit(object_estimate, bucket, how many are in the bucket) for at most `most` objects here that declare a
  /// load and that no balancer has sent away, the heavy buckets first; see load_index.
  void visit_declared(std::size_t most,
                      const std::function<bool(const object_estimate&, std::size_t, std::size_t)>& visit);

  /// Seconds that the messages which wait for an object will take; 0 if that is unknown. Its activation.
  [[nodiscard]] double waiting_seconds(const activation_step& step) const;

  void publish(object_entry& entry, const object_declaration& said);
  void publish_load(activation_step& step);
  /// The object of this extra has left or ended.
  void forget_declared(object_entry_extra& extra) { declared_.forget(extra); }
  /// Gives up the extra of an object that has left or ended. The poll loop may be looking at it.
  void drop_extra(object_entry& entry, thread_context& thread);

 private:
  [[nodiscard]] bool describe(const object_entry& entry, object_estimate& estimate) const;
  [[nodiscard]] double seconds_of(const message_list& waiting) const;

  am_engine& messages_;
  directory& entries_;
  const array_table& arrays_;
  const handler_costs& costs_;
  load_index declared_;
  std::atomic<std::int64_t> stale_{0};  // an estimate: items made stale by move_requests
};

}  // namespace nacre
