// SPDX-License-Identifier: Apache-2.0
// How balancers see the objects of a rank: by the items in its scheduler, by declared loads, by a walk.
#include "mobile/mobile.hpp"

namespace nacre {

/// All loads are relaxed: an estimate.
bool object_space::could_leave(const object_entry& at, object_estimate& into) const {
  const known_location location = at.location.read();
  if (location.rank != messages_.rank() || location.gone) return false;
  if (at.id.is_element() && !arrays_.known_everywhere(at.id)) return false;
  const object_entry_extra* const extra = at.extra();
  if (extra != nullptr && extra->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody) return false;
  if (extra != nullptr && extra->stays.load(std::memory_order_relaxed)) return false;
  const std::uint32_t pending = extra != nullptr ? extra->pending_estimate.load(std::memory_order_relaxed) : 0;
  into = {.id = at.id,
          .declared = extra != nullptr ? extra->declared_load.load(std::memory_order_relaxed) : 0,
          .message_seconds = at.handler_seconds.load(),
          .messages = pending + at.arrivals.count(),
          .running = at.arrivals.active()};
  return true;
}

/// An item of an entry that neither waits nor runs is stale: the entry has been activated without it. If the balancer
/// looks too early to see that, the item ends as any other stale one.
object_space::shown object_space::look_at(const work& item, object_estimate& into) const {
  if (!item.runs_by(&activate_work)) return shown::none;
  const auto& at = static_cast<const object_entry&>(item);
  if (!at.arrivals.waits()) return shown::stale;
  return could_leave(at, into) && !into.running ? shown::object : shown::none;
}

bool object_space::look_at(object_id object, object_estimate& into) const {
  const object_entry* const at = entries_.find(object);
  return at != nullptr && could_leave(*at, into);
}

void object_space::end_stale(thread_context& on, work& item) {
  worker_pool::count_taken_out(on);
  auto& at = static_cast<object_entry&>(item);
  message_list taken;
  if (at.arrivals.claim(taken)) return run_claimed(at, on, taken, false);  // messages have come since it was looked at
  stale_.fetch_sub(1, std::memory_order_relaxed);                          // an estimate
  release_later(at, on);
}

/// Releases the reference of an item that was in a queue of the scheduler, where a balancer may have found it just now.
void object_space::release_later(object_entry& at, thread_context& on) {
  on.reader().retire(&at, [](void* gone) { static_cast<object_entry*>(gone)->release_reference(); });
}

bool object_space::visit_loads(std::size_t& cursor, std::size_t words,
                               const std::function<void(const object_estimate&)>& visit) const {
  return entries_.visit_some(cursor, words, [&](const object_entry& at) {
    object_estimate found{};
    if (could_leave(at, found) && (found.running || found.messages != 0 || found.declared > 0)) visit(found);
  });
}

void object_space::visit_declared(std::size_t most,
                                  const std::function<bool(const object_estimate&, std::size_t, std::size_t)>& visit) {
  declared_.visit(most, [&](const object_entry& at, std::size_t bucket, std::size_t in_bucket) {
    object_estimate found{};
    return !could_leave(at, found) || visit(found, bucket, in_bucket);
  });
}

}  // namespace nacre
