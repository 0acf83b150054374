// SPDX-License-Identifier: Apache-2.0
// How balancers see the objects of a rank: by the items in its scheduler, by declared loads, by a walk.
#include "mobile/object/balancer_view.hpp"

namespace nacre {

/// Publishes estimates for the poll loop, and for the thread that makes the object ready.
void balancer_view::publish(object_entry& entry, const object_declaration& said) {
  object_entry_extra& extra = entry.need_extra();
  extra.declared_load.store(said.load, std::memory_order_relaxed);
  extra.declared_cost.store(said.migration_cost, std::memory_order_relaxed);
  extra.priority.store(said.priority, std::memory_order_relaxed);
  extra.stays.store(said.stays, std::memory_order_relaxed);
  if (messages_.handlers().type(entry.type)->load != nullptr) declared_.note(entry, extra, said.load);
}

/// Of all messages of the list at a pace of 1, from the first few of them.
double balancer_view::seconds_of(const message_list& waiting) const {
  constexpr std::size_t looked_at_max = 16;
  std::size_t looked_at = 0;
  double sum = 0;
  for (const message* m = waiting.front(); m != nullptr && looked_at < looked_at_max; m = m->next, ++looked_at) {
    if (m->header.kind == message_kind::object) sum += costs_.of(m->header.handler);
  }
  return looked_at == 0 ? 0 : sum / static_cast<double>(looked_at) * static_cast<double>(waiting.size());
}

double balancer_view::waiting_seconds(const activation_step& step) const {
  const double pace = step.entry.pace.load(), seconds = step.entry.inbox_seconds.load() + seconds_of(step.pending);
  return pace == 0 ? seconds : seconds * handler_costs::factor(pace);
}

void balancer_view::publish_load(activation_step& step) {
  object_entry& entry = step.entry;
  object_entry_extra* extra = entry.extra();
  const void* const object = entry.object();
  if (object != nullptr) {
    const detail::object_type& type = *messages_.handlers().type(entry.type);
    if (declares(type)) {
      publish(entry, declared_by(type, object, entry.id, arrays_));
      extra = entry.extra();
    }
  }
  if (extra != nullptr && extra->indexed.load(std::memory_order_relaxed) > 0 &&  // written by the activation
      (object == nullptr || messages_.handlers().type(entry.type)->load == nullptr)) {
    declared_.forget(*extra);  // its element has ended; the place stays
  }
  if (extra == nullptr && !step.pending.empty()) extra = &entry.need_extra();
  if (extra != nullptr) {  // written by the activation
    extra->pending_estimate.store(static_cast<std::uint32_t>(step.pending.size()), std::memory_order_relaxed);
    if (step.ran != 0) extra->forget_some_bytes();
    extra->pending_seconds.store(seconds_of(step.pending), std::memory_order_relaxed);
  }
}

/// All loads are relaxed: an estimate. False: the object is not here, or is about to leave.
bool balancer_view::describe(const object_entry& entry, object_estimate& estimate) const {
  const known_location location = entry.location.read();
  if (location.rank != messages_.rank() || location.gone) return false;
  const object_entry_extra* const extra = entry.extra();
  if (extra != nullptr && extra->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody) return false;
  const std::uint32_t pending = extra != nullptr ? extra->pending_estimate.load(std::memory_order_relaxed) : 0;
  const std::uint32_t messages = pending + entry.arrivals.count();
  const double seconds =
      entry.inbox_seconds.load() + (extra != nullptr ? extra->pending_seconds.load(std::memory_order_relaxed) : 0);
  estimate = {.id = entry.id,
              .declared = extra != nullptr ? extra->declared_load.load(std::memory_order_relaxed) : 0,
              .declared_cost = extra != nullptr ? extra->declared_cost.load(std::memory_order_relaxed) : 0,
              .packed_bytes = extra != nullptr ? extra->packed_bytes.load(std::memory_order_relaxed) : 0,
              .handler_seconds = messages != 0 ? seconds / messages : 0,
              .message_seconds = messages != 0 ? seconds / messages * handler_costs::factor(entry.pace.load()) : 0,
              .messages = messages,
              .running = entry.arrivals.active(),
              .stays = (extra != nullptr && extra->stays.load(std::memory_order_relaxed)) ||
                       (entry.id.is_element() && !arrays_.known_everywhere(entry.id))};
  return true;
}

/// An item of an entry that neither waits nor runs is stale: the entry has been activated without it. If the balancer
/// looks too early to see that, the item ends as any other stale one.
balancer_view::shown balancer_view::look_at(const work& item, object_estimate& estimate) const {
  if (!entries_.is_entry(item)) return shown::none;
  const auto& entry = static_cast<const object_entry&>(item);
  if (!entry.arrivals.waits()) return shown::stale;
  return describe(entry, estimate) && !estimate.running ? shown::object : shown::none;
}

bool balancer_view::look_at(object_id object, object_estimate& estimate) const {
  const object_entry* const entry = entries_.find(object);
  return entry != nullptr && describe(*entry, estimate) && !estimate.stays;
}

void balancer_view::drop_extra(object_entry& entry, thread_context& thread) {
  if (object_entry_extra* const known = entry.extra(); known != nullptr) forget_declared(*known);
  if (object_entry_extra* const extra = entry.drop_extra()) {
    thread.reader().retire(extra, [](void* gone) { delete static_cast<object_entry_extra*>(gone); });
  }
}

bool balancer_view::visit_loads(std::size_t& cursor, std::size_t words,
                                const std::function<void(const object_estimate&)>& visit) const {
  return entries_.visit_some(cursor, words, [&](const object_entry& entry) {
    object_estimate estimate{};
    if (describe(entry, estimate) && (estimate.running || estimate.messages != 0 || estimate.declared > 0))
      visit(estimate);
  });
}

void balancer_view::visit_declared(std::size_t most,
                                   const std::function<bool(const object_estimate&, std::size_t, std::size_t)>& visit) {
  declared_.visit(most, [&](const object_entry& entry, std::size_t bucket, std::size_t in_bucket) {
    object_estimate estimate{};
    return !describe(entry, estimate) || visit(estimate, bucket, in_bucket);
  });
}
}  // namespace nacre
