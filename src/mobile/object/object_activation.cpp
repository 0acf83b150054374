// SPDX-License-Identifier: Apache-2.0
// The activation of an entry: admits messages, runs them in order, and waits where it must.
#include "mobile/object/object_activation.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/marks.hpp"
#include "mobile/location/path.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

namespace {

constexpr std::uint32_t messages_per_step = 64;  // of one object before other objects get the worker
constexpr double seconds_per_step = 1e-3;        // of one object, if its handlers are that long

/// Whether a step that takes real time is measured, so that it must end where another handler's messages begin: what
/// one handler takes is learned from steps that run nothing else.
bool times_one_handler(const object_activation::step_time& time, const thread_context& thread) {
  return (time.measured && !time.exact) || thread.charged != 0;
}

bool runs_handler(const message& m, std::uint32_t handler) {
  return m.header.kind != message_kind::object || m.header.handler == handler;
}

}  // namespace

object_activation::object_activation(object_space& space, am_engine& messages)
    : space_(space),
      messages_(messages),
      hold_(space, messages),
      costs_(messages.handlers().handlers(), messages.pool().thread_contexts().size()) {}

object_activation& object_activation::of(thread_context& thread) noexcept {
  return object_space::on_thread(thread).activation();
}

void object_activation::activate_work(work& item, thread_context& thread) {
  auto& entry = static_cast<object_entry&>(item);
  entry.prefetch_object();
  message_list taken;
  if (!entry.arrivals.claim(taken)) {
    NACRE_MARK("an item is stale");
    of(thread).space_.loads().note_stale(-1);
    return balancer_view::release_later(entry, thread);
  }
  entry.inbox_seconds.store(0);
  of(thread).run_claimed(entry, thread, taken, true);
}

/// Runs one step of an entry. Messages that come meanwhile wait for the next step, so that an object that keeps itself
/// busy leaves room for other objects and for the poll loop.
void object_activation::run_claimed(object_entry& entry, thread_context& thread, message_list& taken, bool may_run) {
  activation_step now{entry, thread, {}};
  now.take_up();
  if (messages_.held.on()) [[unlikely]]
    hold_.take_up(entry);
  admit(now, taken);
  if (space_.colocations().acquired(entry)) return space_.colocations().arrive_acquired(now);
  switch (drain(now, may_run)) {
    case step_end::blocked:
    case step_end::left_to_reader:
      return;
    case step_end::spent:
      space_.loads().publish_load(now);
      now.put_back();
      return messages_.pool().make_ready(thread, space_.access().work_for(entry, &go_on_work));
    case step_end::spent_all:
      space_.loads().publish_load(now);
      now.put_back();
      return space_.access().later(entry, thread, &handler_access::end_exclusive_work);
    case step_end::yielded:
      space_.loads().publish_load(now);
      now.put_back();
      return let_go_on(entry, thread);
    case step_end::parked:
    case step_end::held:
      space_.loads().publish_load(now);
      now.put_back();
      if (messages_.pool().ahead()) return space_.access().later(entry, thread, &handler_access::end_exclusive_work);
      return give_back(entry, thread, false);
    case step_end::empty:
      space_.loads().publish_load(now);
      return give_back(entry, thread, may_run);
  }
}

/// Ends an activation with no messages left. If handlers may run here, an object that is to end does so at once,
/// without a way through the scheduler: while it waited there it would count as work, and could be given to other ranks
/// as such.
void object_activation::give_back(object_entry& entry, thread_context& thread, bool may_run) {
  switch (entry.arrivals.finish()) {
    case inbox::finished::yes:
      return;
    case inbox::finished::orphaned:
      return space_.loads().release_later(entry, thread);
    case inbox::finished::messages_came:
      if (!may_run || !is_to_end(entry)) return let_go_on(entry, thread);
      message_list taken;
      entry.arrivals.take(taken);
      entry.inbox_seconds.store(0);
      return run_claimed(entry, thread, taken, true);
  }
}

/// Whether the newest message, which came while the object was active, ends it; false for a place of an array, which
/// would go on. The activation.
bool object_activation::is_to_end(const object_entry& entry) {
  const message* const last = entry.arrivals.newest();
  return last != nullptr && last->header.kind == message_kind::destroy && entry.object() != nullptr &&
         !entry.id.is_element();
}

/// Admits messages: installs arrivals, puts messages into sequence, or forwards them when the object is elsewhere.
void object_activation::admit(activation_step& now, message_list& taken) {
  while (message_ptr m = taken.pop_front()) {
    if (m->header.kind == news_of_end) {
      space_.ends().learn_of_end(now, *m);
    } else if (m->header.kind == may_collect) {
      space_.forwarding().collect(now, *m);
    } else if (m->header.kind == end_of_wait) {
      space_.waits().give_up(now);
    } else if (m->header.kind == end_of_hold) {
      now.on.counters().done.add(1);
    } else if (now.at.location.collected()) {
      NACRE_MARK("a message comes to an entry that has been collected");
      space_.accept(now.on, std::move(m));
    } else if (m->header.kind == message_kind::arrival) {
      space_.migration().install(now, std::move(m));
    } else if (now.at.object() == nullptr && !space_.places().begin_place(now.at)) {
      if (now.at.location.read().rank == messages_.rank()) {
        NACRE_MARK("a message waits in the inbox of an object that is destroyed");
        space_.errors().undeliverable(now.on, std::move(m));
      } else {
        NACRE_MARK("a message meets an object that has just departed");
        space_.forwarding().forward(now.at, now.on, std::move(m));
      }
    } else if (m->header.kind == message_kind::request_to_send) {
      space_.backlog().take_request(now, m->header);
    } else {
      put_into_sequence(now, std::move(m));
    }
  }
}

void object_activation::put_into_sequence(activation_step& now, message_ptr m) {
  std::optional<std::vector<rank_id>> path{std::in_place};
  if ((m->header.flags & flag_path) != 0) path = take_path(*m, messages_.size());
  const std::uint32_t source = m->header.source;
  const bool forwarded = m->header.hops != 0;
  if (!path) {
    return messages_.fail("a message from rank " + std::to_string(source) + " tells not who has forwarded it");
  }
  object_entry_extra* extra = now.at.extra();
  if (m->header.kind == message_kind::claim) {  // belongs to no stream
    now.pending.push_back(std::move(m));
  } else if ((extra == nullptr || (extra->order.empty() && extra->windows == nullptr)) &&
             now.at.order.admit(m->header)) {
    space_.waits().admit(now, std::move(m));
  } else {
    message_list in_sequence;
    const streams::verdict verdict = all_streams(now.at).admit(m, in_sequence);
    while (message_ptr each = in_sequence.pop_front()) space_.waits().admit(now, std::move(each));
    if (verdict == streams::verdict::early) NACRE_MARK("a message comes before an earlier one and is set aside");
    if (verdict == streams::verdict::repeated) {
      messages_.fail("rank " + std::to_string(source) + " sent a message to an object twice");
    }
    if (object_entry_extra* const more = now.at.extra(); more != nullptr && more->windows != nullptr) {
      more->windows->on_next(source, more->order.next_of(source));
    }
  }
  if (forwarded) space_.updates().answer_late(now, rank_id(source), *path);
}

/// The streams of an entry. Replaces its lone stream, if there is one.
streams& object_activation::all_streams(object_entry& entry) {
  object_entry_extra& extra = entry.need_extra();
  if (!entry.order.empty()) extra.order.absorb(entry.order);
  return extra.order;
}

/// Whether no handler runs on the object, so that an exclusive one may begin. False: the activation goes to the thread
/// that ends the last shared handler.
bool object_activation::alone(activation_step& now) {
  if (now.at.gate.idle()) return true;
  now.put_back();
  if (!now.at.gate.try_exclusive()) return false;
  now.take_up();
  return true;
}

/// Moves the object to where a balancer wants it, unless it refuses. False: handlers run on it; as in `alone`.
bool object_activation::fulfil_wish(activation_step& now, object_entry_extra& extra) {
  if (!alone(now)) {
    NACRE_MARK("a balancer's wish waits for shared handlers");
    return false;
  }
  now.at.arrivals.take_move_request();
  const wish_kind wish = extra.wanted.load(std::memory_order_relaxed);
  const rank_id target(extra.wanted_by.exchange(object_entry_extra::nobody));
  if (target != messages_.rank()) static_cast<void>(space_.migration().leave_for(now, target, {}, wish));
  return true;
}

/// Runs messages until none is left, the step is over, a message must wait, or a handler has spent simulated time,
/// during which the object is blocked. After `blocked` and `left_to_reader` another thread may hold the activation.
step_end object_activation::drain(activation_step& now, bool may_run) {
  object_entry& entry = now.at;
  thread_context& thread = now.on;
  const step_time time = begin_step(thread, now.pending.front());
  const double ticks_per_step = time.measured ? seconds_per_step / messages_.pool().seconds_a_tick() : 0;
  step_end manner = step_end::empty;
  std::uint32_t deferred = 0;  // behind joins; none of them has run
  while (entry.object() != nullptr) {
    object_entry_extra* const extra = entry.extra();
    if (extra != nullptr && extra->kept != nullptr && space_.waits().holds(now, manner)) break;
    // A request that is missed here keeps the activation from finishing: see inbox::claim_any.
    if (extra != nullptr && extra->wanted_by.load(std::memory_order_relaxed) != object_entry_extra::nobody) {
      if (fulfil_wish(now, *extra)) continue;
      manner = step_end::blocked;
      break;
    }
    if (extra != nullptr && extra->windows != nullptr) space_.backlog().clear_senders(now);
    if (now.pending.empty()) break;
    if (messages_.held.on() && hold_.keeps(now)) [[unlikely]] {
      manner = step_end::held;
      break;
    }
    if (!may_run || now.ran == messages_per_step ||
        (now.ran != 0 && times_one_handler(time, thread) && !runs_handler(*now.pending.front(), time.handler))) {
      manner = step_end::yielded;
      break;
    }
    if (extra != nullptr && extra->colocations != nullptr && extra->colocations->defer_front(now.pending)) {
      if (++deferred % messages_per_step == 0) may_run = false;
      continue;
    }
    ++now.ran;
    if (extra != nullptr) ++extra->ran;
    thread.record_item();
    manner = run_front(now);
    if (manner != step_end::empty) break;
    const bool long_enough =
        time.measured && static_cast<double>(messages_.pool().instant() - time.begin) > ticks_per_step;
    if (messages_.pool().ahead() && entry.object() != nullptr) {
      manner = long_enough ? step_end::spent_all : step_end::spent;
      break;
    }
    if (long_enough) may_run = false;
  }
  // A coroutine that waits is accounted for when it has ended.
  const bool ours = manner != step_end::blocked && manner != step_end::left_to_reader && manner != step_end::parked &&
                    entry.object() != nullptr;
  end_step(entry, thread, time, {.run = static_cast<int>(now.ran), .ours = ours});
  return manner;
}

step_end object_activation::run_front(activation_step& now) {
  const message_header& header = now.pending.front()->header;
  if (space_.places().is_empty_place(now.at) || header.kind == message_kind::insert) {
    const bool inserts = header.kind == message_kind::insert;
    space_.waits().recount(now);  // the messages behind an insertion are admitted again
    const step_end manner = space_.places().run_on_place(now);
    message_list messages;  // what the new element keeps, or the old one
    if (inserts) messages = std::move(now.pending);
    while (message_ptr m = messages.pop_front()) space_.waits().admit(now, std::move(m));
    return manner;
  }
  const detail::handler_info* row = nullptr;
  const bool for_all = header.kind == message_kind::everyone;
  const bool ends = header.kind == message_kind::destroy || (for_all && header.handler == 0);
  if (header.kind == message_kind::object || (for_all && !ends)) {
    const detail::object_type& type = *messages_.handlers().type(now.at.type);
    row = messages_.handlers().handler(header.handler);
    if (row == nullptr || row->target_key != type.key) {
      const std::string fits_none = "fits no member of " + std::string(type.name);
      messages_.fail("rank " + std::to_string(header.source) + " sent a message that " +
                     (row == nullptr ? why_no_handler(header.handler, fits_none) : fits_none));
      static_cast<void>(now.pending.pop_front());
      return step_end::empty;
    }
    if (row->tag != nullptr) {
      space_.waits().keep_front(now, *row);
      return step_end::empty;
    }
    if (row->shared) return space_.access().run_shared(now, *row);
  }
  if (header.kind == message_kind::lock) return space_.locks().lock_front(now);
  if (header.kind == message_kind::join) return space_.colocations().join_front(now);
  if (header.kind == message_kind::claim) return space_.colocations().claim_front(now);
  if (!alone(now)) {
    NACRE_MARK("an exclusive message waits for shared handlers");
    return step_end::blocked;
  }
  if (row != nullptr) return space_.access().run_exclusive(now, *row);
  if (ends) {
    message_waits::note_ending_run(now.at, *now.pending.front());
    space_.ends().end_object(now);
  } else {
    space_.migration().migrate_front(now);
  }
  return step_end::empty;
}

/// Goes on with the step, behind the items that wait.
void object_activation::go_on_work(work& item, thread_context& thread) {
  object_activation& self = of(thread);
  message_list none;
  self.run_claimed(self.space_.access().held_entry(item), thread, none, true);
}

void object_activation::let_go_on(object_entry& entry, thread_context& thread, worker_pool::origin origin) {
  entry.arrivals.requeue();
  messages_.pool().make_ready(thread, entry, origin);
}

}  // namespace nacre
