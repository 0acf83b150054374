// SPDX-License-Identifier: Apache-2.0
// How objects leave and arrive; their ends are in object_ends.
#include "mobile/migration/object_migration.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/array/empty_element.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

/// Bytes copied out of an arrival in about 10 us.
constexpr std::uint32_t unpacked_at_once_max = 64 * 1024;

}  // namespace

void object_migration::receive(thread_context& thread, message_ptr arrival) {
  const object_id id = object_id::from_value(arrival->header.object);
  const bool no_place = id.is_element() && space_.arrays().find(id) == nullptr;
  if (!space_.homes().knows(id) || no_place) {
    return messages_.fail("rank " + std::to_string(arrival->header.source) + " sent an object that has no name");
  }
  object_entry& entry = space_.is_home_of(id)
                            ? space_.entries().find_or_add(id, {messages_.rank(), 0}, object_space::activator())
                            : space_.sender().entry_elsewhere(id);
  // A large arrival would hold up the poll loop, so an idle worker unpacks it. If no worker is idle the poll loop
  // unpacks it too, because no worker would see the object meanwhile.
  const bool large =
      arrival->packed() && arrival->header.payload_bytes > unpacked_at_once_max && messages_.pool().idle_workers() > 0;
  if (large || !entry.arrivals.begin_idle()) return space_.push(entry, thread, std::move(arrival));
  message_list taken;
  taken.push_back(std::move(arrival));
  space_.activation().run_claimed(entry, thread, taken, false);
}

void object_migration::migrate_front(activation_step& now) {
  const message_ptr m = now.pending.pop_front();
  std::uint32_t rank = ~std::uint32_t{0};
  if (m->header.payload_bytes == sizeof rank) std::memcpy(&rank, m->body(), sizeof rank);
  if (rank >= messages_.size()) {
    messages_.fail("rank " + std::to_string(m->header.source) + " asked an object to move to a rank that is none");
  } else if (rank == messages_.rank().value()) {
    NACRE_MARK("an object is asked to move to where it is");
    if (m->header.reply != 0) messages_.post_reply(now.on, m->header, make_message(0));
  } else {
    const std::string why = leave_for(now, rank_id(rank), {m->header.source, m->header.reply});
    if (!why.empty() && m->header.reply != 0) {
      messages_.post_failure(now.on, m->header, "the object cannot move: " + why);
    }
  }
  now.on.counters().done.add(1);
}

const char* object_migration::refusal(const object_entry& entry) const {
  if (entry.location.read().epoch >= last_epoch_of_moves) {
    return "it has moved 2^32 times, or its place in an array has had so many moves and elements, which is as often as "
           "they can be counted: it stays where it is";
  }
  if (!refuses_to_move(*messages_.handlers().type(entry.type), entry.object(), entry.id, space_.arrays()))
    return nullptr;
  NACRE_MARK("an object refuses to move");
  return "its may_migrate() says false";
}

/// Whether an object of so many packed bytes, with the messages that wait for it, is too long for one message.
bool object_migration::too_long(const activation_step& now, std::size_t bytes) const {
  if (messages_.by_pointer()) return false;
  for (const message* m = now.pending.front(); m != nullptr; m = m->next) bytes += am_engine::size_of(*m);
  const object_entry_extra* const extra = now.at.extra();
  if (extra != nullptr && extra->kept != nullptr)
    extra->kept->for_each([&](const message& m) { bytes += am_engine::size_of(m); });
  return bytes > enclosed_bytes_max;  // the rest is for its streams and places
}

/// Whether the work that waits for an object of so many packed bytes is worth its migration. Where ranks share an
/// address space its bytes stay where they are.
bool object_migration::worth_leaving(const activation_step& now, std::size_t bytes) const {
  if (messages_.by_pointer() || bytes < migration_costs::large_bytes_min) return true;
  if (now.pending.empty() && now.at.arrivals.count() == 0) {  // it has run since the balancer chose it
    const detail::object_type& type = *messages_.handlers().type(now.at.type);
    return declared_by(type, now.at.object(), now.at.id, space_.arrays()).load > 0;
  }
  return worth_migration(space_.loads().waiting_seconds(now), costs_.of(bytes));
}

std::string object_migration::measure(const activation_step& now, std::size_t& bytes) const {
  bytes = 0;
  try {
    bytes = packed_size_of(*messages_.handlers().type(now.at.type), now.at.object(), now.at.id, space_.arrays());
    if (too_long(now, bytes)) return "packed, with what waits for it, it is longer than 1 GiB";
  } catch (const detail::unpackable_value& thrown) {
    if (!messages_.by_pointer()) return thrown.what();
  }
  return {};
}

/// Departs unless the object refuses or cannot move; returns the reason, which is empty when it departs.
std::string object_migration::leave_for(activation_step& now, rank_id target, const migration_request& asked,
                                        wish_kind wish) {
  if (const char* const cause = refusal(now.at); cause != nullptr) return cause;
  std::size_t bytes = 0;
  if (std::string reason = measure(now, bytes); !reason.empty()) return reason;
  if (wish == wish_kind::if_worth && !worth_leaving(now, bytes)) {
    now.at.need_extra().note_packed_bytes(bytes);
    return "it is large, and little work waits for it";
  }
  depart(now, target, asked);
  return {};
}

void object_migration::depart(activation_step& now, rank_id target, const migration_request& asked) {
  object_entry& entry = now.at;
  NACRE_ASSERT(entry.gate.idle(), "an object left under its handlers");
  object_state state = entry.take_state();
  const std::uint32_t epoch = ++state.epoch;
  const location_policy policy = state.policy;
  const bool by_home = space_.rules()[policy].keeps().by_home && !space_.is_home_of(entry.id);
  state.pending.append(now.pending);
  message_list left = space_.backlog().leave_behind(now, state);
  const bool backlog = !left.empty() || state.windows != nullptr;
  const std::uint64_t begin = messages_.pool().instant();
  message_ptr m = make_arrival(entry.id, std::move(state), asked, messages_.by_pointer(), &space_.arrays());
  const std::size_t bytes = messages_.by_pointer() ? 0 : m->header.payload_bytes;
  m->header.source = messages_.rank().value();
  m->header.epoch = epoch;
  messages_.pool().charge_own(own_work::move_out);
  messages_.pool().charge_own(own_work::pack_byte, m->header.payload_bytes);
  now.on.counters().created.add(1);
  now.on.counters().migrations_out.add(1);
  now.on.record(trace::event_kind::depart, entry.id.value(), target.value(), epoch);
  // Sends the object first: a thread that reads the new location sends behind it.
  messages_.route(now.on, target, std::move(m));
  const double spent = static_cast<double>(messages_.pool().instant() - begin) * messages_.pool().seconds_a_tick();
  costs_.learn(bytes, spent);
  entry.location.learn({target, epoch, policy, by_home, false, backlog});
  give_up_extra(entry, now.on);
  space_.forwarding().list_for_review(entry, now.on);
  while (message_ptr each = left.pop_front()) space_.backlog().send_back(now.on, std::move(each));
}

/// Gives up the extra of an object that has left or ended. The poll loop may be looking at it.
void object_migration::give_up_extra(object_entry& entry, thread_context& thread) {
  if (object_entry_extra* const known = entry.extra(); known != nullptr) space_.loads().forget_declared(*known);
  if (object_entry_extra* const extra = entry.drop_extra()) {
    thread.reader().retire(extra, [](void* gone) { delete static_cast<object_entry_extra*>(gone); });
  }
}

void object_migration::install(activation_step& now, message_ptr arrival) {
  object_entry& entry = now.at;
  thread_context& thread = now.on;
  migration_request asked;
  const std::uint32_t source = arrival->header.source;
  messages_.pool().charge_own(own_work::move_in);
  messages_.pool().charge_own(own_work::unpack_byte, arrival->header.payload_bytes);
  const std::size_t packed_bytes = arrival->packed() ? arrival->header.payload_bytes : 0;
  std::optional<object_state> state = take_arrival(arrival, asked, messages_.size(), &space_.arrays());
  if (!state || entry.object() != nullptr) {
    return messages_.fail("rank " + std::to_string(source) + " sent an object that does not unpack");
  }
  if (state->type->has_addresses) space_.access().note_addresses(rank_id(source), *state->type);
  const std::uint32_t epoch = state->epoch;
  const bool empty = state->type == &detail::type_of<detail::empty_element>();  // its element has ended elsewhere
  if (empty && (!entry.id.is_element() || !space_.is_home_of(entry.id))) {
    return messages_.fail("rank " + std::to_string(source) + " sent a place to where it does not belong");
  }
  // If this epoch or a later one is known here already, the sender lies: only the rank that now holds the object could
  // have reported it.
  if (!entry.location.learn({messages_.rank(), epoch, state->policy, false, empty})) {
    return messages_.fail("rank " + std::to_string(source) + " sent an object that is older than it");
  }
  const std::uint32_t contributed = empty ? std::exchange(state->contributed, 0) : 0;
  give_up_extra(entry, thread);  // it may hold a balancer's request from before the departure
  entry.put_state(*state);
  now.pending.append(state->pending);
  if (packed_bytes >= migration_costs::large_bytes_min) entry.need_extra().note_packed_bytes(packed_bytes);
  space_.waits().recount(now);
  thread.counters().migrations_in.add(1);
  thread.record(trace::event_kind::arrive, entry.id.value(), source, epoch);
  space_.updates().tell_of_arrival(entry, rank_id(source), thread);
  space_.forwarding().go_on_by_news(entry.id, thread);
  if (empty) space_.contributed().element_ended(thread, entry.id, contributed, epoch);
  if (asked.reply != 0) {
    message_header request;
    request.source = asked.source;
    request.reply = asked.reply;
    request.object = entry.id.value();
    messages_.post_reply(thread, request, make_message(0));
  }
  thread.counters().done.add(1);
}

bool object_migration::move_out(thread_context& thread, object_id object, rank_id target, wish_kind wish) {
  object_entry* const entry = space_.entries().find(object);
  if (entry == nullptr || entry->location.read().rank != messages_.rank()) return false;
  if (object.is_element() && !space_.arrays().known_everywhere(object)) return false;
  // Before `claim_any` makes the item in the scheduler stale; from then on the item may be dropped at any moment.
  if (!entry->add_reference()) return false;
  object_entry_extra& extra = entry->need_extra();
  extra.wanted.store(wish, std::memory_order_relaxed);  // this and the next are seen by the activation's holder
  extra.wanted_by.store(target.value(), std::memory_order_relaxed);
  message_list taken;
  const inbox::begun begun = entry->arrivals.claim_any(taken);
  if (begun == inbox::begun::from_scheduled) {
    space_.loads().note_stale(1);
  } else {
    entry->release_reference();
  }
  if (begun == inbox::begun::no) {
    NACRE_MARK("a balancer wants an object whose handler runs");
    return true;
  }
  entry->inbox_seconds.store(0);
  space_.activation().run_claimed(*entry, thread, taken, false);
  if (entry->location.read().rank != messages_.rank()) return true;
  const object_entry_extra* const still = entry->extra();
  return still != nullptr && still->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody;
}
}  // namespace nacre
