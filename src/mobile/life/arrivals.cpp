// SPDX-License-Identifier: Apache-2.0
// How objects come.
#include "mobile/life/arrivals.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "mobile/entry/empty_element.hpp"
#include "mobile/life/migration_costs.hpp"
#include "mobile/object/message_waits.hpp"

namespace nacre {

arrivals::arrivals(am_engine& messages, const nacre::homes& homes, const object_names& names, message_table& table,
                   balancer_view& view, entry_access& access, location_updates& updates)
    : messages_(messages), homes_(homes), names_(names), view_(view), access_(access), updates_(updates) {
  table.set_admitted({receiver::object}, message_kind::arrival, message_table::needs::entry,
                     message_table::admit_function::of<&arrivals::install_object>(*this));
}

void arrivals::install_object(activation_step& step, message_ptr arrival) {
  if (const std::optional<arrived> object = install(step, std::move(arrival))) finish(step, *object);
}

/// The state of the object, which is known to be here now; nothing when the job has failed.
std::optional<object_state> arrivals::unpack(activation_step& step, message_ptr& arrival, migration_request& asked) {
  object_entry& entry = step.entry;
  const std::uint32_t source = arrival->header.source;
  const auto refuse = [&](const char* reason) {
    messages_.fail("rank " + std::to_string(source) + " sent " + reason);
    return std::nullopt;
  };
  std::optional<object_state> state = take_arrival(arrival, asked, messages_.size(), &names_);
  if (!state || entry.object() != nullptr) return refuse("an object that does not unpack");
  if (state->type->has_addresses) access_.note_addresses(rank_id(source), *state->type);
  const bool empty = state->type == &detail::type_of<detail::empty_element>();  // its element has ended elsewhere
  if (empty && (!entry.id.is_element() || !homes_.home_is_here(entry.id)))
    return refuse("a place to where it does not belong");
  // If this epoch or a later one is known here already, the sender lies: only the rank that now holds the object could
  // have reported it.
  if (!entry.location.learn({messages_.rank(), state->epoch, state->policy, false, empty}))
    return refuse("an object that is older than it");
  return state;
}

std::optional<arrivals::arrived> arrivals::install(activation_step& step, message_ptr arrival) {
  object_entry& entry = step.entry;
  thread_context& thread = step.thread;
  arrived object;
  const rank_id source(arrival->header.source);
  messages_.pool().charge_own(own_work::move_in);
  messages_.pool().charge_own(own_work::unpack_byte, arrival->header.payload_bytes);
  const std::size_t packed_bytes = arrival->packed() ? arrival->header.payload_bytes : 0;
  std::optional<object_state> state = unpack(step, arrival, object.asked);
  if (!state) return std::nullopt;
  object.epoch = state->epoch;
  object.is_empty_place = state->type == &detail::type_of<detail::empty_element>();
  if (object.is_empty_place) object.contributed = std::exchange(state->contributed, 0);
  view_.drop_extra(entry, thread);  // it may hold a balancer's request from before the departure
  entry.put_state(*state);
  step.pending.append(state->pending);
  if (packed_bytes >= migration_costs::large_bytes_min) entry.need_extra().note_packed_bytes(packed_bytes);
  message_waits::recount(step);
  thread.counters().migrations_in.add(1);
  thread.record(trace::event_kind::arrive, entry.id.value(), source.value(), object.epoch);
  updates_.tell_of_arrival(entry, source, thread);
  updates_.told(entry.id, thread);
  return object;
}

void arrivals::finish(activation_step& step, const arrived& object) {
  if (object.asked.reply != 0) {
    message_header request;
    request.source = object.asked.source;
    request.reply = object.asked.reply;
    request.object = step.entry.id.value();
    messages_.post_reply(step.thread, request, make_message(0));
  }
  step.thread.counters().done.add(1);
}

}  // namespace nacre
