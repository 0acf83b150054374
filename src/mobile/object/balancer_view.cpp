// SPDX-License-Identifier: Apache-2.0
// How balancers see the objects of a rank: by the items in its scheduler, by declared loads, by a walk.
#include "mobile/object/balancer_view.hpp"

#include <limits>

#include "mobile/object_space.hpp"

namespace nacre {

double balancer_view::priority_of(const work& item, rank_id here) noexcept {
  if (!item.runs_by(&object_activation::activate_work)) return 0;
  const auto& at = static_cast<const object_entry&>(item);
  if (at.location.read().rank != here) return std::numeric_limits<double>::infinity();
  const object_entry_extra* const extra = at.extra();
  return extra != nullptr ? extra->priority.load(std::memory_order_relaxed) : 0;  // an estimate
}

/// Publishes estimates for the poll loop, and for the thread that makes the object ready.
void balancer_view::publish(object_entry& at, const object_declaration& said) {
  object_entry_extra& extra = at.need_extra();
  extra.declared_load.store(said.load, std::memory_order_relaxed);
  extra.priority.store(said.priority, std::memory_order_relaxed);
  extra.stays.store(said.stays, std::memory_order_relaxed);
  if (messages_.handlers().type(at.type)->load != nullptr) declared_.note(at, extra, said.load);
}

/// Of all messages of the list at a pace of 1, from the first few of them.
double balancer_view::seconds_of(const message_list& waiting) const {
  constexpr std::size_t looked_at_max = 16;
  std::size_t looked_at = 0;
  double sum = 0;
  for (const message* m = waiting.front(); m != nullptr && looked_at < looked_at_max; m = m->next, ++looked_at) {
    if (m->header.kind == message_kind::object) sum += space_.activation().costs().of(m->header.handler);
  }
  return looked_at == 0 ? 0 : sum / static_cast<double>(looked_at) * static_cast<double>(waiting.size());
}

double balancer_view::waiting_seconds(const activation_step& now) const {
  const double pace = now.at.pace.load(), seconds = now.at.inbox_seconds.load() + seconds_of(now.pending);
  return pace == 0 ? seconds : seconds * handler_costs::factor(pace);
}

void balancer_view::publish_load(activation_step& now) {
  object_entry& at = now.at;
  object_entry_extra* extra = at.extra();
  const void* const object = at.object();
  if (object != nullptr) {
    const detail::object_type& type = *messages_.handlers().type(at.type);
    if (declares(type)) {
      publish(at, declared_by(type, object, at.id, space_.arrays()));
      extra = at.extra();
    }
  }
  if (extra != nullptr && extra->indexed.load(std::memory_order_relaxed) > 0 &&  // written by the activation
      (object == nullptr || messages_.handlers().type(at.type)->load == nullptr)) {
    declared_.forget(*extra);  // its element has ended; the place stays
  }
  if (extra == nullptr && !now.pending.empty()) extra = &at.need_extra();
  if (extra != nullptr) {  // written by the activation
    extra->pending_estimate.store(static_cast<std::uint32_t>(now.pending.size()), std::memory_order_relaxed);
    if (now.ran != 0) extra->forget_some_bytes();
    extra->pending_seconds.store(seconds_of(now.pending), std::memory_order_relaxed);
  }
}

/// All loads are relaxed: an estimate.
bool balancer_view::could_leave(const object_entry& at, object_estimate& into) const {
  const known_location location = at.location.read();
  if (location.rank != messages_.rank() || location.gone) return false;
  if (at.id.is_element() && !space_.arrays().known_everywhere(at.id)) return false;
  const object_entry_extra* const extra = at.extra();
  if (extra != nullptr && extra->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody) return false;
  if (extra != nullptr && extra->stays.load(std::memory_order_relaxed)) return false;
  const std::uint32_t pending = extra != nullptr ? extra->pending_estimate.load(std::memory_order_relaxed) : 0;
  const std::uint32_t messages = pending + at.arrivals.count();
  const double seconds =
      at.inbox_seconds.load() + (extra != nullptr ? extra->pending_seconds.load(std::memory_order_relaxed) : 0);
  into = {.id = at.id,
          .declared = extra != nullptr ? extra->declared_load.load(std::memory_order_relaxed) : 0,
          .packed_bytes = extra != nullptr ? extra->packed_bytes.load(std::memory_order_relaxed) : 0,
          .handler_seconds = messages != 0 ? seconds / messages : 0,
          .message_seconds = messages != 0 ? seconds / messages * handler_costs::factor(at.pace.load()) : 0,
          .messages = messages,
          .running = at.arrivals.active()};
  return true;
}

/// An item of an entry that neither waits nor runs is stale: the entry has been activated without it. If the balancer
/// looks too early to see that, the item ends as any other stale one.
balancer_view::shown balancer_view::look_at(const work& item, object_estimate& into) const {
  if (!item.runs_by(&object_activation::activate_work)) return shown::none;
  const auto& at = static_cast<const object_entry&>(item);
  if (!at.arrivals.waits()) return shown::stale;
  return could_leave(at, into) && !into.running ? shown::object : shown::none;
}

bool balancer_view::look_at(object_id object, object_estimate& into) const {
  const object_entry* const at = space_.entries().find(object);
  return at != nullptr && could_leave(*at, into);
}

void balancer_view::end_stale(thread_context& on, work& item) {
  on.counters().taken.add(1);  // ready work that no worker will run
  auto& at = static_cast<object_entry&>(item);
  message_list taken;
  if (at.arrivals.claim(taken))
    return space_.activation().run_claimed(at, on, taken, false);  // messages have come since it was looked at
  note_stale(-1);
  release_later(at, on);
}

/// Releases the reference of an item that was in a queue of the scheduler, where a balancer may have found it just now.
void balancer_view::release_later(object_entry& at, thread_context& on) {
  on.reader().retire(&at, [](void* gone) { static_cast<object_entry*>(gone)->release_reference(); });
}

bool balancer_view::visit_loads(std::size_t& cursor, std::size_t words,
                                const std::function<void(const object_estimate&)>& visit) const {
  return space_.entries().visit_some(cursor, words, [&](const object_entry& at) {
    object_estimate found{};
    if (could_leave(at, found) && (found.running || found.messages != 0 || found.declared > 0)) visit(found);
  });
}

void balancer_view::visit_declared(std::size_t most,
                                   const std::function<bool(const object_estimate&, std::size_t, std::size_t)>& visit) {
  declared_.visit(most, [&](const object_entry& at, std::size_t bucket, std::size_t in_bucket) {
    object_estimate found{};
    return !could_leave(at, found) || visit(found, bucket, in_bucket);
  });
}
}  // namespace nacre
