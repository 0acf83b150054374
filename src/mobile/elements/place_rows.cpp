// SPDX-License-Identifier: Apache-2.0
// Places of arrays: an entry at the place's home that stays, with or without an element.
#include "mobile/elements/place_rows.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/elements/reduction.hpp"
#include "mobile/entry/empty_element.hpp"

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

place_rows::place_rows(am_engine& messages, const nacre::homes& homes, const array_table& arrays, message_table& table,
                       message_waits& waits, arrivals& arriving, departures& departing, object_ends& ends,
                       contributions& contributed, delivery_errors& errors)
    : messages_(messages),
      homes_(homes),
      arrays_(arrays),
      waits_(waits),
      arrivals_(arriving),
      departures_(departing),
      ends_(ends),
      contributions_(contributed),
      errors_(errors) {
  using run = message_table::run_function;
  using admit = message_table::admit_function;
  using needs = message_table::needs;
  const run refusal = run::of<&place_rows::refuse_at_empty>(*this);
  for (const message_kind kind : {message_kind::object, message_kind::destroy, message_kind::migrate,
                                  message_kind::lock, message_kind::join, message_kind::claim}) {
    table.set_run({receiver::empty_place}, kind, refusal, false);
  }
  table.set_run({receiver::empty_place}, message_kind::everyone, run::of<&place_rows::pass_over_at_empty>(*this),
                false);
  table.set_run({receiver::object, receiver::element, receiver::empty_place}, message_kind::insert,
                run::of<&place_rows::insert_element>(*this), false);
  table.set_run({receiver::element}, message_kind::destroy, run::of<&place_rows::end_element>(*this), true);
  table.set_admitted({receiver::element}, message_kind::arrival, needs::entry,
                     admit::of<&place_rows::install_place>(*this));
  table.set_admitted({receiver::element}, news_of_end, needs::nothing,
                     admit::of<&place_rows::handle_news_of_end>(*this));
  table.set_lost(message_kind::everyone, message_table::lost_function::of<&place_rows::pass_over>(*this));
  table.begin_place = part_function<bool(object_entry&)>::of<&place_rows::begin_place>(*this);
}

bool place_rows::begin_place(object_entry& entry) {
  if (!entry.id.is_element() || !homes_.home_is_here(entry.id) || entry.location.read().epoch != 0) return false;
  object_state state;
  make_empty(state);
  entry.put_state(state);
  return entry.location.learn({messages_.rank(), state.epoch, entry.location.read().policy, false, true});
}

message_ptr place_rows::insertion(const detail::object_type& type, void* object) {
  message_ptr m = make_message(sizeof(carried));
  ::new (static_cast<void*>(m->body())) carried{&type, object};
  m->ops = &carried_ops;
  m->header.kind = message_kind::insert;
  return m;
}

message_ptr place_rows::erasure() {
  message_ptr m = make_message(0);
  m->header.kind = message_kind::destroy;
  return m;
}

/// A message for an element comes to the front at a place that has none.
step_end place_rows::refuse_at_empty(activation_step& step) {
  errors_.undeliverable(step.thread, step.pending.pop_front());
  return step_end::empty;
}

step_end place_rows::pass_over_at_empty(activation_step& step) {
  const message_ptr m = step.pending.pop_front();
  pass_over_place(step.thread, *m);
  return step_end::empty;
}

/// A message to all elements is done where there is none.
void place_rows::pass_over_place(thread_context& thread, const message& m) {
  NACRE_MARK("a message to all elements meets a place without one");
  if (m.header.reply != 0) messages_.post_reply(thread, m.header, reduction::none());
  thread.counters().done.add(1);
}

/// A message to all elements has lost its place, which has been retired. False: it has lost its array, too.
bool place_rows::pass_over(thread_context& thread, const message& m) {
  if (arrays_.find(object_id::from_value(m.header.object)) == nullptr) return false;
  pass_over_place(thread, m);
  return true;
}

/// Null, or why there can be no new element.
const char* place_rows::put_element(object_entry& entry, message& m) {
  const std::shared_ptr<array_home> array = entry.id.is_element() ? arrays_.find(entry.id) : nullptr;
  if (array == nullptr) return "the array has been destroyed";
  if (!is_empty_place(entry)) {
    NACRE_MARK("an element is inserted where there is one");
    return "the array has an element at that place already";
  }
  if (entry.location.read().epoch >= last_epoch_of_moves) {
    return "the place has had 2^32 moves and elements, which is as many as can be counted: use another place";
  }
  if (arrays_.is_retired(entry.id)) return "the key of the place has been forgotten: insert by the key";
  // Either all elements end after this insertion, or it does not begin: the thread that sets `closing` sends the ends
  // afterwards, and the end of this place waits for the activation, which this thread has now. The code of the class
  // runs without the mutex.
  if (array->is_closing()) return "the array is being destroyed";
  const detail::object_type& type = *array->layout.type;
  void* bytes = nullptr;
  if (m.packed()) {
    reader in(m.payload());
    const object_function serialize{"serialize, or the default constructor,", type, entry.id, &arrays_};
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
  contributions_.element_came(*array, array_table::number_of(entry.id) - array->first);
  return nullptr;
}

step_end place_rows::insert_element(activation_step& step) {
  message_ptr m = step.pending.pop_front();
  const char* const refusal = put_element(step.entry, *m);
  if (refusal == nullptr) step.thread.record(trace::event_kind::create, step.entry.id.value());
  if (is_awaited_by_all(step.pending)) NACRE_MARK("an element is inserted before a reduction that waits at its place");
  if (m->header.reply != 0 && refusal != nullptr) {
    messages_.post_failure(step.thread, m->header, refusal);
  } else if (m->header.reply != 0) {
    messages_.post_reply(step.thread, m->header, make_message(0));
  }
  step.thread.counters().done.add(1);
  m.reset();  // with the element, if it was refused
  if (refusal == nullptr) waits_.keep_behind_insertion(step);
  return step_end::empty;
}

/// Ends an element. The place stays, with its streams, and goes home; the next element continues the streams, because
/// the sending ranks count on.
step_end place_rows::end_element(activation_step& step) {
  message_waits::note_ending_run(step.entry, *step.pending.front());
  object_entry& entry = step.entry;
  const message_ptr m = step.pending.pop_front();
  if (is_awaited_by_all(step.pending)) NACRE_MARK("an element ends before a reduction that waits at its place");
  object_state state = entry.take_state();
  state.type->destroy(std::exchange(state.object, nullptr));
  make_empty(state);
  errors_.report_kept(step.thread, state);
  if (state.colocations != nullptr) {
    // Its colocations are over; they do not apply to the next element.
    for (message_ptr& join : state.colocations->dissolve(step.pending)) {
      NACRE_MARK("an element ends that a colocation waits for");
      errors_.undeliverable(step.thread, std::move(join));
    }
    state.colocations.reset();
  }
  entry.put_state(state);
  if (homes_.home_is_here(entry.id)) {
    const std::uint32_t contributed = contributed_by(entry);
    static_cast<void>(entry.location.learn({messages_.rank(), state.epoch + 1, state.policy, false, true}));
    contributions_.element_ended(step.thread, entry.id, contributed, state.epoch + 1);
    if (m->header.reply != 0) messages_.post_reply(step.thread, m->header, make_message(0));
  } else {
    NACRE_MARK("an element ends away from home");
    departures_.depart(step, homes_.home_of(entry.id), {m->header.source, m->header.reply});
  }
  step.thread.counters().done.add(1);
  return step_end::empty;
}

void place_rows::install_place(activation_step& step, message_ptr arrival) {
  const std::optional<arrivals::arrived> object = arrivals_.install(step, std::move(arrival));
  if (!object) return;
  if (object->is_empty_place)
    contributions_.element_ended(step.thread, step.entry.id, object->contributed, object->epoch);
  arrivals_.finish(step, *object);
}

/// The news of the end of a place, for its array has ended, or of an element elsewhere.
void place_rows::handle_news_of_end(activation_step& step, message_ptr news) {
  const object_id id = step.entry.id;
  const bool place_ends = homes_.home_is_here(id) && (arrays_.find(id) == nullptr || arrays_.is_retired(id));
  if (!place_ends) return ends_.handle_news(step, std::move(news));
  end_place(step);
  step.thread.counters().done.add(1);
}

/// Ends a place of a destroyed array, or one that has been retired: messages that wait there, or come later, are
/// undeliverable.
void place_rows::end_place(activation_step& step) {
  object_entry& entry = step.entry;
  if (entry.object() == nullptr && !begin_place(entry)) return;  // a peer has told of it too
  object_state state = entry.take_state();
  state.pending.append(step.pending);
  ends_.end_entry(step, state);
}
}  // namespace nacre
