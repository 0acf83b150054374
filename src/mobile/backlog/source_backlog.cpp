// SPDX-License-Identifier: Apache-2.0
// Messages that wait at their sources while their object has more messages than it can take along, and their way to it.
#include "mobile/backlog/source_backlog.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/entry/baggage.hpp"
#include "mobile/entry/path.hpp"

namespace nacre {

namespace {

/// A message that has been forwarded more often than this goes back to its source: its object moves faster than it
/// follows. Larger: many messages chase a fast object, which costs more than sending them again. Smaller: even a lone
/// message behind a short chain would go back.
constexpr std::uint32_t chase_max = 4;

}  // namespace

source_backlog::source_backlog(am_engine& messages, directory& entries, const array_table& arrays, message_table& table,
                               send_entries& numbers, const next_hop& hop, location_updates& updates,
                               delivery_errors& errors)
    : messages_(messages),
      entries_(entries),
      arrays_(arrays),
      numbers_(numbers),
      hop_(hop),
      updates_(updates),
      errors_(errors) {
  messages_.attach_module(*this);
  entries.forgotten = part_function<void(thread_context&, object_id)>::of<&source_backlog::drop_waiting>(*this);
  table.set_admitted({receiver::object, receiver::element}, message_kind::request_to_send, message_table::needs::object,
                     message_table::admit_function::of<&source_backlog::note_request>(*this));
  table.set_lost(message_kind::request_to_send,
                 message_table::lost_function::of<&source_backlog::refuse_request>(*this));
  table.make_room = part_function<void(activation_step&, bool)>::of<&source_backlog::clear_senders>(*this);
}

// At the source.

/// Queues a numbered message here, if other messages for its object wait here. False: the message goes its way. `held`:
/// the message is counted in main's window already, if main has sent it.
bool source_backlog::keep_at_source(thread_context& thread, object_entry& entry, message_ptr& m, bool begin,
                                    bool held) {
  m = messages_.as_received(std::move(m));
  source_queues::outcome next;
  const auto hold = [&](message& kept) {
    const bool counted = kept.packed() && kept.ops != nullptr;  // as a message to many is, see broadcast_receipts
    if (!held && !counted) messages_.acquire_window(thread, kept);
  };
  if (!waiting_.put(entry.id, m, begin, numbers_.next_sequence(entry), hold, next)) return false;
  go_on_at_source(thread, entry, next);
  return true;
}

/// A message of this rank has come back.
void source_backlog::requeue_returned(thread_context& thread, message_ptr m) {
  const object_id id = object_id::from_value(m->header.object);
  if (m->header.source != messages_.rank().value() || !in_stream(m->header.kind)) {
    return messages_.fail("a message came back to rank " + std::to_string(messages_.rank().value()) +
                          " that it has not sent");
  }
  object_entry* const entry = id.is_element() ? numbers_.entry_to_send_by(thread, id) : entries_.find(id);
  if (entry == nullptr) {
    NACRE_MARK("a message comes back, and its object is gone");
    m->header.flags &= static_cast<std::uint8_t>(~flag_returned);
    return errors_.undeliverable(thread, std::move(m));
  }
  if (m->packed() && m->ops != nullptr && !messages_.by_pointer()) {  // it holds no resources while it waits here
    m->ops->destroy(*m);
    m->ops = nullptr;
  }
  m->header.hops = 0;
  source_queues::outcome next;
  if (!waiting_.put(
          id, m, true, numbers_.next_sequence(*entry), [](message&) {}, next))
    return;  // a queue exists now
  go_on_at_source(thread, *entry, next);
}

void source_backlog::on_clear_to_send(context& ctx, std::uint64_t object, std::uint32_t limit, std::uint32_t epoch,
                                      std::uint8_t policy) {
  thread_context& thread = detail::thread_of(ctx);
  const object_id id = object_id::from_value(object);
  if (!location_rules::known(policy)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " cleared messages to an object with a location policy that is none");
  }
  object_entry* const entry = entries_.find(id);
  if (entry == nullptr) return;
  if (entry->location.learn({ctx.source(), epoch, static_cast<location_policy>(policy)})) updates_.told(id, thread);
  source_queues::outcome next;
  // The object has cleared all messages from its next place: its backlog holds back no message here any more.
  const bool is_over = waiting_.clear(id, limit, numbers_.next_sequence(*entry), next);
  go_on_at_source(thread, *entry, next);
  if (is_over) entry->location.end_backlog(epoch);
}

/// Carries out the outcome of a queue. If the entry has been taken out of the directory meanwhile, drops the queue,
/// because no other thread looks at it again.
void source_backlog::go_on_at_source(thread_context& thread, object_entry& entry, source_queues::outcome& next) {
  while (message_ptr m = next.send.pop_front()) send_cleared(thread, entry, std::move(m));
  if (next.ask) request_to_send(thread, entry, *next.ask);
  if (waiting_.any() && entries_.find(entry.id) != &entry) drop_waiting(thread, entry.id);
}

void source_backlog::send_cleared(thread_context& thread, const object_entry& entry, message_ptr m) {
  const bool again = (m->header.flags & flag_returned) != 0;
  m->header.flags = static_cast<std::uint8_t>((m->header.flags & ~flag_returned) | flag_granted);
  const rank_id next = hop_.of(entry, entry.location.read(), m->header);
  if (next != messages_.rank()) {
    thread.counters().hops.add(1);
    if (again) thread.counters().forwards.add(1);
  }
  messages_.route(thread, next, std::move(m));
}

/// Sends a request along the way of a message to the object, outside every stream. It needs no credit: there is one for
/// each window.
void source_backlog::request_to_send(thread_context& thread, const object_entry& entry, std::uint32_t end) {
  NACRE_MARK("messages wait at their source");
  message_ptr m = make_message(0);
  m->header.kind = message_kind::request_to_send;
  m->header.object = entry.id.value();
  m->header.source = messages_.rank().value();
  m->header.sequence = end;
  m->header.flags = flag_uncounted;  // the messages that wait count
  m->header.channel = channel::system;
  const rank_id next = hop_.of(entry, entry.location.read(), m->header);
  messages_.route(thread, next, std::move(m));
}

/// Refuses a request to a destroyed object, or a retired place. Other places of an array end on all ranks at once.
bool source_backlog::refuse_request(thread_context& thread, const message& request) {
  const object_id id = object_id::from_value(request.header.object);
  if (id.is_element() && !arrays_.is_retired(id)) return true;  // its streams continue with the next element
  NACRE_MARK("an object is gone for which messages wait at their source");
  messages_.post_to_module<&delivery_errors::on_gone>(thread, rank_id(request.header.source), request.header.object);
  return true;
}

/// Reports the messages that wait for an object without an entry on this rank.
void source_backlog::drop_waiting(thread_context& thread, object_id id) {
  if (!waiting_.any()) return;
  message_list all = waiting_.drop(id);
  while (message_ptr m = all.pop_front()) {
    NACRE_MARK("a message that waits at its source is reported");
    errors_.undeliverable(thread, std::move(m));
  }
}

// Where the object has been.

/// Whether a message that has come to an old place of its object goes back to its source, instead of after the object.
bool source_backlog::goes_back(const known_location& location, const message_header& header) const noexcept {
  if (!in_stream(header.kind) || (header.flags & flag_granted) != 0) return false;
  return location.backlog || header.hops > chase_max;
}

void source_backlog::return_to_source(thread_context& thread, message_ptr m) {
  NACRE_MARK("a message goes back to its source");
  messages_.pool().charge_own(own_work::forward);
  if ((m->header.flags & flag_path) != 0 && !take_path(*m, messages_.size())) {
    return messages_.fail("a message from rank " + std::to_string(m->header.source) +
                          " tells not who has forwarded it");
  }
  m->header.flags = static_cast<std::uint8_t>((m->header.flags & ~flag_granted) | flag_returned);
  const rank_id source(m->header.source);
  if (source == messages_.rank()) return requeue_returned(thread, std::move(m));
  if (m->header.hops < 255) ++m->header.hops;
  thread.counters().hops.add(1);
  thread.counters().forwards.add(1);
  messages_.route(thread, source, std::move(m));
}

// Where the object is.

void source_backlog::note_request(activation_step& step, message_ptr request) {
  const message_header& header = request->header;
  if (header.source >= messages_.size()) {
    return messages_.fail("a rank that is none asks to send to an object");
  }
  streams& order = step.entry.all_streams();
  std::unique_ptr<source_windows>& windows = step.entry.need_extra().windows;
  if (windows == nullptr) windows = std::make_unique<source_windows>();
  windows->on_request(header.source, header.sequence, order.next_of(header.source));
}

/// Clears senders before the object runs its next message, so that the next ones are under way even if that message
/// takes the activation away. Skips streams that are blocked for a colocation.
///
/// `all`: a coroutine waits for a message, or the object is held. Messages that wait here then count as none: they run
/// after the coroutine, and the message that it awaits may stand behind any number of others, also in a stream that is
/// blocked for a colocation, which waits for the coroutine.
void source_backlog::clear_senders(activation_step& step, bool all) {
  object_entry_extra& extra = *step.entry.extra();
  const participation* const colocations = all ? nullptr : extra.colocations.get();
  const std::size_t waiting = all || step.pending.empty() ? 0 : step.pending.size() - 1;  // they take room
  const auto is_blocked = [&](std::uint32_t rank) { return colocations != nullptr && colocations->is_blocked(rank); };
  const known_location location = step.entry.location.read();
  for (const source_windows::grant& each : extra.windows->clear(waiting, extra.ran, is_blocked)) {
    messages_.post_to_module<&source_backlog::on_clear_to_send>(step.thread, each.target, step.entry.id.value(),
                                                                each.limit, location.epoch,
                                                                static_cast<std::uint8_t>(location.policy));
  }
  if (extra.windows->empty()) extra.windows.reset();
}

/// Divides the messages that wait for a leaving object: some go along, the rest is returned, to go back to its sources.
message_list source_backlog::leave_behind(activation_step& step, object_state& state) {
  const std::uint32_t ran = std::max(step.ran, step.entry.extra() != nullptr ? step.entry.extra()->ran : 0);
  baggage taken(ran);
  message_list left;
  std::uint64_t carried = 0;
  // Where a colocation lets a stream pass, the stream's messages lie in two lists. The list behind the joins is divided
  // first. All messages of the other list go along, but for those behind one of their stream that stays.
  const auto goes_along = [&](const message& m, waits waits) {
    if (state.kept != nullptr) return true;  // it may have kept later messages of the stream already
    const bool passes =
        waits == waits::ready && state.colocations != nullptr && state.colocations->passes(m.header.source);
    return passes ? !taken.is_cut_off(m.header) : taken.takes(m.header, waits);
  };
  const auto divide = [&](message_list& all, waits waits) {
    message_list kept;
    while (message_ptr m = all.pop_front()) {
      if (!goes_along(*m, waits)) {
        left.push_back(std::move(m));
        continue;
      }
      if (m->header.hops < 255) ++m->header.hops;
      ++carried;
      kept.push_back(std::move(m));
    }
    all = std::move(kept);
  };
  if (state.colocations != nullptr) {
    state.colocations->for_each_behind([&](message_list& messages) { divide(messages, waits::behind_join); });
  }
  divide(state.pending, waits::ready);
  message_list early;
  state.order.take_early(early);
  divide(early, waits::early);
  for (const auto& [source, next] : taken.cut()) {
    state.order.roll_back(source, next);
    if (state.windows != nullptr) state.windows->on_next(source, next);
  }
  while (message_ptr m = early.pop_front()) {
    const streams::verdict verdict = state.order.admit(m, state.pending);
    NACRE_ASSERT(verdict == streams::verdict::early, "a message that was early is early still");
  }
  if (state.windows != nullptr) state.windows->on_departure(ran);
  step.thread.counters().carried.add(carried);
  return left;
}

void source_backlog::name_waiting(std::size_t count_max, std::vector<std::string>& words) const {
  waiting_.for_each([&](object_id id, std::size_t count) {
    if (words.size() > count_max) return false;
    const object_entry* const entry = entries_.find(id);
    if (entry == nullptr || count == 0) return true;
    words.push_back("rank " + std::to_string(messages_.rank().value()) + " keeps " + std::to_string(count) +
                    (count == 1 ? " message to " : " messages to ") + arrays_.name_of(id) +
                    " until it clears them, on rank " + std::to_string(entry->location.read().rank.value()) +
                    " as far as is known");
    return true;
  });
}

}  // namespace nacre
