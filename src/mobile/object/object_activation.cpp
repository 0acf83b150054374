// SPDX-License-Identifier: Apache-2.0
// The activation of an entry: admits messages, runs them in order, and waits where it must.
#include "mobile/object/object_activation.hpp"

#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/entry/empty_element.hpp"
#include "mobile/entry/held_work.hpp"
#include "mobile/entry/path.hpp"

namespace nacre {

namespace {

constexpr std::uint32_t messages_per_step = 64;  // of one object before other objects get the worker
constexpr std::uint32_t wish_waits_max = 64;     // steps in which messages pass a balancer's wish
constexpr double seconds_per_step = 1e-3;        // of one object, if its handlers are that long

/// Whether a step that takes real time is measured, so that it must end where another handler's messages begin: what
/// one handler takes is learned from steps that run nothing else.
bool times_one_handler(const step_clock::step_time& time, const thread_context& thread) {
  return (time.measured && !time.exact) || thread.charged != 0;
}

bool runs_handler(const message& m, std::uint32_t handler) {
  return m.header.kind != message_kind::object || m.header.handler == handler;
}

/// Whether an object that has come belongs to a colocation.
bool is_held(const object_entry& entry) noexcept {
  const object_entry_extra* const extra = entry.extra();
  return extra != nullptr && extra->colocations != nullptr && extra->colocations->acquired_by.number != 0;
}

bool wants_to_leave(const activation_step& step, const object_entry_extra* extra) noexcept {
  return extra != nullptr && !step.wish_waits &&
         extra->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody;  // see claim_any
}

receiver receiver_at(const object_entry& entry) noexcept {
  if (!entry.id.is_element()) return receiver::object;
  return is_empty_place(entry) ? receiver::empty_place : receiver::element;
}

}  // namespace

object_activation::object_activation(am_engine& messages, directory& entries, const message_table& table,
                                     entry_access& access, message_waits& waits, step_clock& clock, balancer_view& view)
    : messages_(messages),
      entries_(entries),
      table_(table),
      access_(access),
      waits_(waits),
      clock_(clock),
      view_(view),
      hold_(messages.held) {}

object_activation& object_activation::of(thread_context& thread) noexcept {
  return *thread.messages().objects().activation;
}

void object_activation::activate_work(work& item, thread_context& thread) {
  auto& entry = static_cast<object_entry&>(item);
  entry.prefetch_object();
  message_list taken;
  if (!entry.arrivals.claim(taken)) {
    NACRE_MARK("an item is stale");
    of(thread).view_.note_stale(-1);
    return directory::release_later(entry, thread);
  }
  entry.inbox_seconds.store(0);
  of(thread).run_step(entry, thread, taken, may_run::yes);
}

double object_activation::priority_of(const work& item, rank_id rank) noexcept {
  if (!item.runs_by(&activate_work)) return 0;
  const auto& entry = static_cast<const object_entry&>(item);
  if (entry.location.read().rank != rank) return std::numeric_limits<double>::infinity();
  const object_entry_extra* const extra = entry.extra();
  return extra != nullptr ? extra->priority.load(std::memory_order_relaxed) : 0;  // an estimate
}

void object_activation::push(object_entry& entry, thread_context& thread, message_ptr m, bool by_handler) {
  using origin = worker_pool::origin;
  const bool first = m->header.kind == message_kind::object && m->header.sequence == 0 && !entry.id.is_element() &&
                     entry.id.birth() == messages_.rank();  // this rank has made the object, whatever its home is
  const origin source = !by_handler ? origin::elsewhere : first ? origin::birth : origin::handler;
  if (m->header.kind == message_kind::object) {
    entry.inbox_seconds.add(clock_.costs().of(m->header.handler), m->header.sequence);
  }
  if (entry.arrivals.push(m.release())) messages_.pool().make_ready(thread, entry, source);
}

message_ptr object_activation::notice(message_kind kind, rank_id source, std::uint32_t epoch) {
  message_ptr m = make_message(0);
  m->header.kind = kind;
  m->header.source = source.value();
  m->header.epoch = epoch;
  return m;
}

void object_activation::push_notice(object_entry& entry, thread_context& thread, message_kind kind, rank_id source,
                                    std::uint32_t epoch) {
  message_ptr m = notice(kind, source, epoch);
  thread.counters().created.add(1);
  push(entry, thread, std::move(m));
}

bool object_activation::run_if_idle(object_entry& entry, thread_context& thread, message_ptr& m, may_run handlers) {
  if (!entry.arrivals.begin_idle()) return false;
  message_list taken;
  taken.push_back(std::move(m));
  run_step(entry, thread, taken, handlers);
  return true;
}

/// Messages that come meanwhile wait for the next step, so that an object that keeps itself busy leaves room for other
/// objects and for the poll loop.
void object_activation::run_step(object_entry& entry, thread_context& thread, message_list& taken, may_run handlers) {
  activation_step step{entry, thread, {}};
  step.take_up();
  if (messages_.held.on()) [[unlikely]]
    hold_.take_up(entry);
  admit(step, taken);
  if (is_held(entry)) return table_.arrived_held(step);
  const step_end end = drain(step, handlers);
  if (end == step_end::blocked || end == step_end::left_to_reader) return;
  view_.publish_load(step);
  if (end == step_end::empty) return finish_step(entry, thread, handlers);
  step.put_back();
  if (end == step_end::spent) {
    return messages_.pool().make_ready(thread, held_work<object_activation>::make(*this, entry, &continue_work));
  }
  if (end == step_end::yielded) return access_.reschedule(entry, thread);
  const bool waits_for_time = end == step_end::spent_all || messages_.pool().ahead();
  if (waits_for_time) return access_.end_when_spent(entry, thread, entry_access::kind::exclusive);
  finish_step(entry, thread, may_run::no);
}

/// Goes on with the step, behind the items that wait.
void object_activation::continue_work(work& item, thread_context& thread) {
  const auto [activation, entry] = held_work<object_activation>::take(item);
  message_list none;
  activation->run_step(*entry, thread, none, may_run::yes);
}

void object_activation::finish_step(object_entry& entry, thread_context& thread, may_run handlers) {
  switch (entry.arrivals.finish()) {
    case inbox::finished::yes:
      return;
    case inbox::finished::orphaned:
      return directory::release_later(entry, thread);
    case inbox::finished::messages_came:
      if (handlers == may_run::no || !is_to_end(entry)) return access_.reschedule(entry, thread);
      message_list taken;
      entry.arrivals.take(taken);
      entry.inbox_seconds.store(0);
      return run_step(entry, thread, taken, may_run::yes);
  }
}

/// Whether the newest message, which came while the object was active, ends it; false for a place of an array, which
/// would go on. The activation.
bool object_activation::is_to_end(const object_entry& entry) {
  const message* const last = entry.arrivals.newest();
  return last != nullptr && last->header.kind == message_kind::destroy && entry.object() != nullptr &&
         !entry.id.is_element();
}

/// Admits messages: into the streams of the object, if they are for it.
void object_activation::admit(activation_step& step, message_list& taken) {
  while (message_ptr m = taken.pop_front()) {
    if (m->header.kind == message_kind::object && step.entry.object() != nullptr) [[likely]] {
      put_into_sequence(step, std::move(m));
    } else {
      admit_other(step, std::move(m));
    }
  }
}

void object_activation::admit_other(activation_step& step, message_ptr m) {
  using needs = message_table::needs;
  const message_kind kind = m->header.kind;
  if (kind == end_of_wait) return waits_.give_up(step);
  if (kind == look_again) return step.thread.counters().done.add(1);
  const message_table::row& row =
      table_.row_of(step.entry.id.is_element() ? receiver::element : receiver::object, kind);
  if (row.admit && row.at_least == needs::nothing) return row.admit(step, std::move(m));
  if (step.entry.location.collected()) {
    NACRE_MARK("a message comes to an entry that has been collected");
    return messages_.objects().accept(step.thread, std::move(m));
  }
  if (row.admit && row.at_least == needs::entry) return row.admit(step, std::move(m));
  if (step.entry.object() == nullptr && !table_.begin_place(step.entry)) return table_.not_here(step, std::move(m));
  if (row.admit) return row.admit(step, std::move(m));
  put_into_sequence(step, std::move(m));
}

void object_activation::put_into_sequence(activation_step& step, message_ptr m) {
  std::optional<std::vector<rank_id>> path{std::in_place};
  if ((m->header.flags & flag_path) != 0) path = take_path(*m, messages_.size());
  const std::uint32_t source = m->header.source;
  const bool forwarded = m->header.hops != 0;
  if (!path) {
    return messages_.fail("a message from rank " + std::to_string(source) + " tells not who has forwarded it");
  }
  object_entry_extra* extra = step.entry.extra();
  if (m->header.kind == message_kind::claim) {  // belongs to no stream
    step.pending.push_back(std::move(m));
  } else if ((extra == nullptr || (extra->order.empty() && extra->windows == nullptr)) &&
             step.entry.order.admit(m->header)) {
    waits_.admit(step, std::move(m));
  } else {
    message_list in_sequence;
    const streams::verdict verdict = step.entry.all_streams().admit(m, in_sequence);
    while (message_ptr each = in_sequence.pop_front()) waits_.admit(step, std::move(each));
    if (verdict == streams::verdict::early) NACRE_MARK("a message comes before an earlier one and is set aside");
    if (verdict == streams::verdict::repeated) {
      messages_.fail("rank " + std::to_string(source) + " sent a message to an object twice");
    }
    if (object_entry_extra* const more = step.entry.extra(); more != nullptr && more->windows != nullptr) {
      more->windows->on_next(source, more->order.next_of(source));
    }
  }
  if (forwarded) table_.late(step, rank_id(source), *path);
}

/// Whether a coroutine on the object awaits a message, so that nothing may run; `end` tells then how the step ends.
bool object_activation::waits_for_message(activation_step& step, step_end& end) {
  if (!message_waits::has_waiter(step.entry)) return false;
  if (step.entry.extra()->windows != nullptr) table_.make_room(step, true);  // one of the senders may keep the message
  end = waits_.hold(step);
  return true;
}

/// Whether the messages of the step lie at the object until the hold ends.
bool object_activation::keeps_for_image(activation_step& step) {
  if (is_empty_place(step.entry)) return false;  // no object that could be saved with them
  const object_entry_extra* const extra = step.entry.extra();
  if (extra != nullptr && extra->windows != nullptr) table_.make_room(step, true);
  return hold_.keeps(step);
}

/// Moves the object to where a balancer wants it, unless it refuses or balancing is off meanwhile. False: handlers run
/// on it; as in try_exclusive. Where coroutines have it, its messages go on: one of these may await them.
bool object_activation::migrate_for_balancer(activation_step& step, object_entry_extra& extra) {
  if (step.entry.gate.has_coroutine()) {
    if (!step.entry.gate.try_wish()) {
      NACRE_MARK("messages pass a balancer's wish that waits for shared coroutines");
      step.entry.arrivals.take_move_request();
      step.wish_waits = true;
      // An object that always has readers does not leave; balancers see it again.
      if (++extra.wish_waits >= wish_waits_max) extra.wanted_by.store(object_entry_extra::nobody), extra.wish_waits = 0;
      return true;
    }
  } else if (!entry_access::try_exclusive(step)) {
    NACRE_MARK("a balancer's wish waits for shared handlers");
    return false;
  }
  step.entry.arrivals.take_move_request();
  extra.wish_waits = 0;
  const wish_kind wish = extra.wanted.load(std::memory_order_relaxed);
  const rank_id target(extra.wanted_by.exchange(object_entry_extra::nobody));
  const bool is_heeded = heeds_wishes_.load(std::memory_order_relaxed);
  if (is_heeded && target != messages_.rank()) table_.leave(step, target, wish);
  return true;
}

/// Runs messages until none is left, the step is over, a message must wait, or a handler has spent simulated time,
/// during which the object is blocked. After `blocked` and `left_to_reader` another thread may hold the activation.
step_end object_activation::drain(activation_step& step, may_run handlers) {
  object_entry& entry = step.entry;
  thread_context& thread = step.thread;
  const step_clock::step_time time = clock_.begin(thread, step.pending.front());
  const double ticks_per_step = time.measured ? seconds_per_step / messages_.pool().seconds_a_tick() : 0;
  step_end manner = step_end::empty;
  std::uint32_t deferred = 0;  // behind joins; none of them has run
  while (entry.object() != nullptr) {
    object_entry_extra* const extra = entry.extra();
    if (extra != nullptr && extra->kept != nullptr && waits_for_message(step, manner)) break;
    // A request that is missed here keeps the activation from finishing: see inbox::claim_any.
    if (wants_to_leave(step, extra)) {
      if (migrate_for_balancer(step, *extra)) continue;
      manner = step_end::blocked;
      break;
    }
    if (extra != nullptr && extra->windows != nullptr) table_.make_room(step, false);
    if (step.pending.empty()) break;
    if (messages_.held.on() && keeps_for_image(step)) [[unlikely]] {
      manner = step_end::held;
      break;
    }
    if (handlers == may_run::no || step.ran == messages_per_step ||
        (step.ran != 0 && times_one_handler(time, thread) && !runs_handler(*step.pending.front(), time.handler))) {
      manner = step_end::yielded;
      break;
    }
    if (extra != nullptr && extra->colocations != nullptr && extra->colocations->defer_front(step.pending)) {
      if (++deferred % messages_per_step == 0) handlers = may_run::no;
      continue;
    }
    ++step.ran;
    if (extra != nullptr) ++extra->ran;
    thread.record_item();
    manner = run_next(step);
    if (manner != step_end::empty) break;
    const bool long_enough =
        time.measured && static_cast<double>(messages_.pool().instant() - time.begin) > ticks_per_step;
    if (messages_.pool().ahead() && entry.object() != nullptr) {
      manner = long_enough ? step_end::spent_all : step_end::spent;
      break;
    }
    if (long_enough) handlers = may_run::no;
  }
  // A coroutine that waits is accounted for when it has ended.
  const bool ours = manner != step_end::blocked && manner != step_end::left_to_reader && manner != step_end::parked &&
                    entry.object() != nullptr;
  clock_.end(entry, thread, time, {.run = static_cast<int>(step.ran), .ours = ours});
  return manner;
}

step_end object_activation::run_next(activation_step& step) {
  const message_header& header = step.pending.front()->header;
  const bool for_member =
      header.kind == message_kind::object || (header.kind == message_kind::everyone && header.handler != 0);
  if (for_member) [[likely]] {
    const detail::handler_info* const row = messages_.handlers().handler(header.handler);
    if (row != nullptr && row->target_key == messages_.handlers().type(step.entry.type)->key) [[likely]] {
      return run_member(step, *row);
    }
  }
  return run_other(step);
}

step_end object_activation::run_member(activation_step& step, const detail::handler_info& row) {
  if (row.tag != nullptr) {
    waits_.keep_front(step, row);
    return step_end::empty;
  }
  if (row.shared) return run_shared(step, row);
  if (!entry_access::try_exclusive(step)) {
    NACRE_MARK("an exclusive message waits for shared handlers");
    return step_end::blocked;
  }
  return run_exclusive(step, row);
}

step_end object_activation::run_other(activation_step& step) {
  const message_header& header = step.pending.front()->header;
  const receiver to = receiver_at(step.entry);
  const bool ends = header.kind == message_kind::everyone && header.handler == 0 && to != receiver::empty_place;
  const message_table::row& row = table_.row_of(to, ends ? message_kind::destroy : header.kind);
  if (!row.run) return refuse(step);
  if (row.alone && !entry_access::try_exclusive(step)) {
    NACRE_MARK("an exclusive message waits for shared handlers");
    return step_end::blocked;
  }
  return row.run(step);
}

/// Refuses a message to a member that the object does not have.
step_end object_activation::refuse(activation_step& step) {
  const message_ptr m = step.pending.pop_front();
  const std::string fits_none = "fits no member of " + std::string(messages_.handlers().type(step.entry.type)->name);
  const bool known = messages_.handlers().handler(m->header.handler) != nullptr;
  messages_.fail("rank " + std::to_string(m->header.source) + " sent a message that " +
                 (known ? fits_none : why_no_handler(m->header.handler, fits_none)));
  return step_end::empty;
}

step_end object_activation::run_exclusive(activation_step& step, const detail::handler_info& row) {
  object_entry& entry = step.entry;
  if (!row.coroutine) {
    messages_.run(step.thread, row, step.pending.pop_front(), entry.object());
    access_.check_serialization(entry);
    return step_end::empty;
  }
  // relaxed: read and written by the activation; published by the run below.
  const auto coroutine = entry.exclusive_coroutine.load(std::memory_order_relaxed);
  NACRE_ASSERT(coroutine == object_entry::coroutine::none || coroutine == object_entry::coroutine::ended,
               "an exclusive coroutine begins while another one has the object");
  entry.exclusive_coroutine.store(object_entry::coroutine::inline_, std::memory_order_relaxed);
  messages_.run(step.thread, row, step.pending.pop_front(), entry.object());
  step.put_back();
  auto seen = object_entry::coroutine::inline_;
  // acq_rel: pairs with end_coroutine and message_waits::wait; whichever comes second lets the
  // activation go on.
  if (entry.exclusive_coroutine.compare_exchange_strong(seen, object_entry::coroutine::suspended,
                                                        std::memory_order_acq_rel)) {
    return step_end::blocked;
  }
  if (seen == object_entry::coroutine::parked) {
    entry.exclusive_coroutine.store(object_entry::coroutine::suspended,
                                    std::memory_order_relaxed);  // published by finish
    step_end manner = step_end::parked;
    static_cast<void>(waits_for_message(step, manner));
    return manner;
  }
  NACRE_ASSERT(seen == object_entry::coroutine::ended, "an exclusive coroutine neither waits nor has ended");
  access_.check_serialization(entry);
  step.take_up();
  return step_end::empty;
}

/// Runs a shared handler. First gives the activation back, or makes the entry ready if messages wait, so that other
/// handlers may begin beside this one, but none before it: messages start in their order.
step_end object_activation::run_shared(activation_step& step, const detail::handler_info& row) {
  object_entry& entry = step.entry;
  message_ptr m = step.pending.pop_front();
  void* const object = entry.object();
  entry.gate.enter_shared(row.coroutine ? access_gate::reader::coroutine : access_gate::reader::handler);
  view_.publish_load(step);
  const bool waiting = !step.pending.empty();
  step.put_back();
  if (waiting || entry.arrivals.finish() != inbox::finished::yes) access_.reschedule(entry, step.thread);
  messages_.run(step.thread, row, std::move(m), object);
  if (!row.coroutine) access_.end(entry, step.thread, entry_access::kind::shared);
  return step_end::left_to_reader;
}

void object_activation::end_coroutine(thread_context& thread, const message_header& request,
                                      const detail::handler_info& handler, double seconds) {
  object_entry* const entry = entries_.find(object_id::from_value(request.object));
  NACRE_ASSERT(entry != nullptr, "an object went away under a coroutine handler");
  if (seconds > 0) clock_.learn_coroutine(*entry, thread, request.handler, seconds);
  if (handler.shared) return access_.end(*entry, thread, entry_access::kind::shared);
  // acq_rel: pairs with the exchange in run_exclusive.
  const auto coroutine = entry->exclusive_coroutine.exchange(object_entry::coroutine::ended, std::memory_order_acq_rel);
  NACRE_ASSERT(coroutine == object_entry::coroutine::inline_ || coroutine == object_entry::coroutine::suspended,
               "an exclusive coroutine ended that did not have its object");
  if (coroutine == object_entry::coroutine::suspended) access_.end(*entry, thread, entry_access::kind::exclusive);
}

void object_activation::end_waits(thread_context& thread) {
  const epoch_guard guard(thread);
  for (const object_id id : waits_.take_held_up()) {
    if (object_entry* const entry = entries_.find(id)) push_notice(*entry, thread, end_of_wait);
  }
}

void object_activation::end_hold(thread_context& thread) {
  const epoch_guard guard(thread);
  for (const object_id id : hold_.end(thread)) {
    object_entry* const entry = entries_.find(id);
    if (entry == nullptr) continue;
    if (entry->arrivals.begin_idle()) {
      access_.reschedule(*entry, thread);
    } else {
      // The thread that has the activation may have put the messages down, and be about to give the activation back.
      push_notice(*entry, thread, look_again);
    }
  }
}

}  // namespace nacre
