// SPDX-License-Identifier: Apache-2.0
// Places of arrays: an entry at the place's home that stays, with or without an element.
#include "mobile/array/array_places.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/marks.hpp"
#include "mobile/array/empty_element.hpp"
#include "mobile/array/reduction.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

namespace {

/// The body of an insertion that stays in one address space.
struct carried {
  const detail::object_type* type;
  void* object;  ///< owned
};

carried& of(message& m) noexcept { return *std::launder(reinterpret_cast<carried*>(m.body())); }
const carried& of(const message& m) noexcept { return *std::launder(reinterpret_cast<const carried*>(m.body())); }

constexpr body_ops carried_ops{[](const message& m) { return of(m).type->packed_size(of(m).object); },
                               [](message& m, writer& out) { of(m).type->pack(of(m).object, out); },
                               [](message& m) noexcept {
                                 if (of(m).object != nullptr) of(m).type->destroy(of(m).object);
                               }};

/// Whether the next message at a place is one of a call or a reduction.
bool is_awaited_by_all(const message_list& pending) {
  return !pending.empty() && pending.front()->header.kind == message_kind::everyone &&
         pending.front()->header.reply != 0;
}

/// Takes the count of messages with values that an element has sent from its place, for the element has ended.
std::uint32_t contributed_by(const object_entry& entry) {
  object_entry_extra* const extra = entry.extra();
  return extra != nullptr ? extra->contributed.exchange(0, std::memory_order_relaxed) : 0;  // no handler runs
}

void make_empty(object_state& state) {
  state.object = new detail::empty_element;
  state.type = &detail::type_of<detail::empty_element>();
  state.pace = 0;
}

}  // namespace

void array_places::adopt_element(thread_context& thread, std::uint64_t number, void* object) {
  const std::shared_ptr<array_home> array = space_.arrays().find(number);
  object_state state;
  state.object = object;
  state.type = array->layout.type;
  state.policy = space_.rules().meant(array->layout.location);
  const epoch_guard guard(thread);
  adopt_element(thread, space_.arrays().name_at_home(*array, number - array->first), std::move(state));
}

void array_places::adopt_element(thread_context& thread, object_id id, object_state state) {
  const std::uint64_t number = array_space::number_of(id);
  const std::shared_ptr<array_home> array = space_.arrays().find(number);
  object_entry& entry =
      space_.install_new(thread, id, std::move(state));  // runs code of the class, hence without the mutex
  space_.contributed().element_came(*array, number - array->first);
  const std::scoped_lock lock(array->mutex);
  array->note_place(number - array->first, entry, &array_space::run_part);
}

/// The entry of a place with its home here, made when the first message comes for it; null when this rank is not its
/// home. Holds the mutex from making the entry to noting it, so that later messages to all elements find it.
object_entry* array_places::place_at_home(object_id id) {
  if (!space_.is_home_of(id)) return nullptr;
  const std::shared_ptr<array_home> array = space_.arrays().find(id);
  if (array == nullptr) return nullptr;
  const std::uint64_t number = array_space::number_of(id) - array->first;
  const detail::array_layout& layout = array->layout;
  if (number >= layout.shape.count() || array->birth_of(number) != id.birth()) {
    return nullptr;
  }
  const std::scoped_lock lock(array->mutex);
  if (array->has_retired(number, number)) return nullptr;
  object_entry& entry = space_.entries().find_or_add(
      id, {messages_.rank(), 0, space_.rules().meant(layout.location), false, true}, &object_activation::activate_work);
  array->note_place(number, entry, &array_space::run_part);
  return &entry;
}

/// Begins a place that place_at_home has made, in its first activation. False: it is an entry of another kind.
bool array_places::begin_place(object_entry& entry) {
  if (!entry.id.is_element() || !space_.is_home_of(entry.id) || entry.location.read().epoch != 0) return false;
  object_state state;
  make_empty(state);
  entry.put_state(state);
  return entry.location.learn({messages_.rank(), state.epoch, entry.location.read().policy, false, true});
}

bool array_places::is_empty_place(const object_entry& entry) noexcept {
  return entry.type == detail::type_of<detail::empty_element>().id.value();
}

void array_places::post_to_place(thread_context& thread, object_entry& entry, message_ptr m) {
  address_to_place(thread, entry, *m);
  const known_location location = entry.location.read();
  if ((location.backlog || space_.backlog().any()) &&
      space_.backlog().keep_at_source(thread, entry, m, location.backlog, false))
    return;
  const rank_id target = location.rank;
  if (target == messages_.rank() && !messages_.deferred())
    return space_.push(entry, thread, std::move(m), thread.in_item());
  if (target != messages_.rank()) thread.counters().hops.add(1);
  messages_.route(thread, target, std::move(m));
}

/// Addresses a message for all elements to a place, with its number in the stream from this rank.
void array_places::address_to_place(thread_context& thread, object_entry& entry, message& m) {
  thread.counters().created.add(1);
  m.header.object = entry.id.value();
  m.header.source = messages_.rank().value();
  m.header.sequence = entry.next_sequence.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
  m.header.epoch = entry.location.read().epoch;
}

/// A plain handler leaves the message to the caller, unless it keeps it.
bool array_places::run_on_idle_place(thread_context& thread, object_entry& entry, message_ptr& m,
                                     const detail::handler_info* plain) {
  if (entry.location.read().rank != messages_.rank() || !entry.arrivals.begin_idle()) return false;
  message_list taken;
  if (plain != nullptr && run_plainly(thread, entry, m, *plain)) {
    if (messages_.pool().ahead()) {
      space_.access().later(entry, thread, &handler_access::end_exclusive_work);
      return true;
    }
    if (entry.extra() == nullptr) {  // else a balancer may want the object
      space_.activation().give_back(entry, thread, false);
      return true;
    }
  } else {
    address_to_place(thread, entry, *m);
    taken.push_back(std::move(m));
  }
  space_.activation().run_claimed(entry, thread, taken, true);
  return true;
}

/// Runs a plain handler without a number in the stream. That is possible when no other thread wants the element, and
/// all messages of this rank to it have come: then there is no message to overtake. Nearly all elements are in this
/// state. False: nothing has happened.
bool array_places::run_plainly(thread_context& thread, object_entry& entry, message_ptr& m,
                               const detail::handler_info& handler) {
  // relaxed: a message that another thread numbers at this moment has no order with this one.
  const std::uint32_t sent = entry.next_sequence.load(std::memory_order_relaxed);
  if (entry.extra() != nullptr || entry.object() == nullptr || is_empty_place(entry) || !entry.gate.idle())
    return false;
  if (messages_.held.on()) return false;
  if (!entry.order.has_admitted(messages_.rank().value(), sent)) return false;
  thread.counters().created.add(1);
  m->header.object = entry.id.value();
  m->header.source = messages_.rank().value();
  const object_activation::step_time time = space_.activation().times_each_step()
                                                ? space_.activation().begin_step(thread, m.get())
                                                : object_activation::step_time{};
  if (messages_.run_and_leave(thread, handler, m, entry.object())) thread.counters().done.add(1);
  space_.access().check_serialization(entry);
  if (time.measured || thread.charged != 0) {
    space_.activation().end_step(entry, thread, time, {.run = 1, .ours = true});
  }
  return true;
}

message_ptr array_places::insertion(const detail::object_type& type, void* object) {
  message_ptr m = make_message(sizeof(carried));
  ::new (static_cast<void*>(m->body())) carried{&type, object};
  m->ops = &carried_ops;
  m->header.kind = message_kind::insert;
  return m;
}

message_ptr array_places::erasure() {
  message_ptr m = make_message(0);
  m->header.kind = message_kind::destroy;
  return m;
}

void array_places::post_insert(thread_context& thread, object_id element, const detail::object_type& type, void* object,
                               detail::future_state& done) {
  space_.sender().post(thread, element, insertion(type, object), &done);
}

void array_places::post_erase(thread_context& thread, object_id element, detail::future_state& done) {
  space_.sender().post(thread, element, erasure(), &done);
}

/// Handles messages for a place without an element, and all insertions.
step_end array_places::run_on_place(activation_step& now) {
  message_ptr m = now.pending.pop_front();
  if (m->header.kind == message_kind::insert) {
    insert_here(now, std::move(m));
  } else if (m->header.kind == message_kind::everyone) {
    pass_over(now.on, *m);
  } else {
    space_.errors().undeliverable(now.on, std::move(m));
  }
  return step_end::empty;
}

/// Null, or why there can be no new element.
const char* array_places::put_element(object_entry& entry, message& m) {
  const std::shared_ptr<array_home> array = entry.id.is_element() ? space_.arrays().find(entry.id) : nullptr;
  if (array == nullptr) return "the array has been destroyed";
  if (!is_empty_place(entry)) {
    NACRE_MARK("an element is inserted where there is one");
    return "the array has an element at that place already";
  }
  if (entry.location.read().epoch >= last_epoch_of_moves) {
    return "the place has had 2^32 moves and elements, which is as many as can be counted: use another place";
  }
  if (is_retired(entry.id)) return "the key of the place has been forgotten: insert by the key";
  // Either all elements end after this insertion, or it does not begin: the thread that sets `closing` sends the ends
  // afterwards, and the end of this place waits for the activation, which this thread has now. The code of the class
  // runs without the mutex.
  if (array->is_closing()) return "the array is being destroyed";
  const detail::object_type& type = *array->layout.type;
  void* bytes = nullptr;
  if (m.packed()) {
    reader in(m.payload());
    const object_function serialize{"serialize, or the default constructor,", type, entry.id, &space_.arrays()};
    bytes = call_named(serialize, [&] { return type.unpack(in); });
    if (bytes != nullptr && !in.finish()) type.destroy(std::exchange(bytes, nullptr));
  } else {
    bytes = std::exchange(of(m).object, nullptr);
  }
  if (bytes == nullptr) {
    messages_.fail("rank " + std::to_string(m.header.source) + " sent an element that does not unpack");
    return "the element does not unpack";
  }
  object_state state = entry.take_state();
  state.type->destroy(std::exchange(state.object, bytes));
  state.type = &type;
  entry.put_state(state);
  static_cast<void>(entry.location.learn({messages_.rank(), state.epoch + 1, state.policy}));
  space_.contributed().element_came(*array, array_space::number_of(entry.id) - array->first);
  return nullptr;
}

void array_places::insert_here(activation_step& now, message_ptr m) {
  const char* const refusal = put_element(now.at, *m);
  if (refusal == nullptr) now.on.record(trace::event_kind::create, now.at.id.value());
  if (is_awaited_by_all(now.pending)) NACRE_MARK("an element is inserted before a reduction that waits at its place");
  if (m->header.reply != 0 && refusal != nullptr) {
    messages_.post_failure(now.on, m->header, refusal);
  } else if (m->header.reply != 0) {
    messages_.post_reply(now.on, m->header, make_message(0));
  }
  now.on.counters().done.add(1);
}

/// Ends an element. The place stays, with its streams, and goes home; the next element continues the streams, because
/// the sending ranks count on.
void array_places::end_element(activation_step& now) {
  object_entry& entry = now.at;
  const message_ptr m = now.pending.pop_front();
  if (is_awaited_by_all(now.pending)) NACRE_MARK("an element ends before a reduction that waits at its place");
  object_state state = entry.take_state();
  state.type->destroy(std::exchange(state.object, nullptr));
  make_empty(state);
  space_.waits().report_left(now.on, state);
  if (state.colocations != nullptr) {
    // Its colocations are over; they do not apply to the next element.
    for (message_ptr& join : state.colocations->dissolve(now.pending)) {
      NACRE_MARK("an element ends that a colocation waits for");
      space_.errors().undeliverable(now.on, std::move(join));
    }
    state.colocations.reset();
  }
  entry.put_state(state);
  if (space_.is_home_of(entry.id)) {
    const std::uint32_t contributed = contributed_by(entry);
    static_cast<void>(entry.location.learn({messages_.rank(), state.epoch + 1, state.policy, false, true}));
    space_.contributed().element_ended(now.on, entry.id, contributed, state.epoch + 1);
    if (m->header.reply != 0) messages_.post_reply(now.on, m->header, make_message(0));
  } else {
    NACRE_MARK("an element ends away from home");
    space_.migration().depart(now, space_.homes().home_of(entry.id), {m->header.source, m->header.reply});
  }
  now.on.counters().done.add(1);
}

void array_places::forget_array(thread_context& thread, std::uint64_t first) {
  const std::shared_ptr<array_home> array = space_.arrays().close(first);
  if (array == nullptr) return;
  space_.contributed().drop(thread, *array);
  const epoch_guard guard(thread);
  std::vector<object_entry*> places;
  {
    const std::scoped_lock lock(array->mutex);
    for (auto& [number, part] : array->parts) {
      for (std::atomic<object_entry*>& place : part->places) {  // relaxed: written under the mutex; all have ended
        if (object_entry* const self = place.load(std::memory_order_relaxed)) places.push_back(self);
        place.store(nullptr, std::memory_order_relaxed);
      }
    }
  }
  space_.sender().remote().forget(
      object_id::first_element + first, array->layout.shape.count(),
      [&](std::uint64_t number) { return array->name_of(number); },
      [&](object_id element) {
        if (object_entry* const entry = space_.entries().find(element)) space_.ends().forget(*entry, thread);
      },
      [&](void* gone, void (*destroy)(void*)) { thread.reader().retire(gone, destroy); });
  for (object_entry* const each : places) space_.ends().push_end(*each, messages_.rank(), thread);
}

/// Ends a place of a destroyed array, or one that has been retired: messages that wait there, or come later, are
/// undeliverable.
void array_places::end_place(activation_step& now) {
  object_entry& entry = now.at;
  if (entry.object() == nullptr && !begin_place(entry)) return;  // a peer has told of it too
  object_state state = entry.take_state();
  state.pending.append(now.pending);
  space_.ends().end_entry(now, state);
}
}  // namespace nacre
