// SPDX-License-Identifier: Apache-2.0
// The activation of an entry: order, access, and the running of handlers.
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/mobile.hpp"

namespace nacre {
namespace {

constexpr int messages_a_turn = 64;  // of one object before others get the worker

object_space& space_of(lane& on) noexcept { return static_cast<object_space&>(on.messages().objects()); }

}  // namespace

void object_space::activate_work(work& item, lane& on) {
  auto& at = static_cast<entry&>(item);
  message_list taken;
  if (!at.arrivals.claim(taken)) {
    NACRE_MARK("a ticket is stale");
    return at.release_reference();
  }
  space_of(on).run_claimed(at, on, taken, true);
}

/// One turn of an entry. What comes while it runs waits for the next turn, so that an object that keeps itself busy
/// leaves room for others and for the poll loop.
void object_space::run_claimed(entry& at, lane& on, message_list& taken, bool may_run) {
  admit(at, on, taken);
  switch (drain(at, on, may_run)) {
    case drained::blocked:
    case drained::left_to_reader:
      return;
    case drained::spent:
      publish_load(at);
      return later(at, on, &go_on_work);
    case drained::yielded:
      publish_load(at);
      return let_go_on(at, on);
    case drained::empty:
      publish_load(at);
      switch (at.arrivals.finish()) {
        case inbox::finished::yes:
          return;
        case inbox::finished::orphaned:
          return at.release_reference();
        case inbox::finished::messages_came:
          return let_go_on(at, on);
      }
  }
}

/// Takes messages in: arrivals are installed, others put into sequence, or sent on when the object is not here.
void object_space::admit(entry& at, lane& on, message_list& taken) {
  while (message_ptr m = taken.pop_front()) {
    if (m->header.kind == message_kind::arrival) {
      install(at, on, std::move(m));
    } else if (m->header.kind == news_of_end) {
      learn_of_end(at, on, *m);
    } else if (at.body == nullptr) {
      if (at.fact.read().rank == messages_.rank()) {
        NACRE_MARK("a message waits in the inbox of an object that is destroyed");
        undeliverable(on, std::move(m));
      } else {
        NACRE_MARK("a message meets an object that has just departed");
        forward(at, on, std::move(m));
      }
    } else {
      const message_header header = m->header;
      const streams::verdict how = at.body->order.admit(m, at.body->pending);
      if (how == streams::verdict::early) NACRE_MARK("a message comes before an earlier one and is set aside");
      if (how == streams::verdict::repeated) {
        messages_.fail("rank " + std::to_string(header.source) + " sent a message to an object twice");
      }
      if (header.hops != 0) tell_late_sender(at, on, header);
    }
  }
}

/// An object that is here has not been destroyed elsewhere.
void object_space::learn_of_end(entry& at, lane& on, const message& news) {
  if (at.body != nullptr) {
    return messages_.fail("rank " + std::to_string(news.header.source) + " told of the end of an object that lives");
  }
  forget(at, on);
  on.tallies().done.add(1);
}

void object_space::tell_late_sender(entry& at, lane& on, const message_header& late) {
  const rank_id source(late.source);
  if (source == messages_.rank()) return;
  resident& body = *at.body;
  if (!policy_->tell_sender({source, body.order.told_epoch(source), body.epoch})) return;
  body.order.note_told(source, body.epoch);
  tell_location(on, source, at.id, body.epoch);
}

/// Runs messages until there are none, the turn is over, one must wait, or a handler has spent simulated time, during
/// which nobody else may have the object. After `blocked` and `left_to_reader` the activation is somebody else's.
object_space::drained object_space::drain(entry& at, lane& on, bool may_run) {
  const bool measure = on.meter.begin();
  const std::uint64_t begin = measure ? messages_.team().instant() : 0;
  int run = 0;
  drained how = drained::empty;
  while (at.body != nullptr) {
    if (at.wanted_by.load(std::memory_order_relaxed) != entry::nobody) {  // a wish: nothing hangs on when it is seen
      if (!at.gate.try_exclusive()) {
        NACRE_MARK("a balancer's wish waits for shared handlers");
        how = drained::blocked;
        break;
      }
      const rank_id to(at.wanted_by.exchange(entry::nobody));
      if (to != messages_.rank()) depart(at, on, to, {});
      continue;
    }
    if (at.body->pending.empty()) break;
    if (measure && run == 0) on.note_size(node::size_of(*at.body->pending.front()));
    if (!may_run || run == messages_a_turn) {
      how = drained::yielded;
      break;
    }
    ++run;
    how = run_front(at, on);
    if (how != drained::empty) break;
    if (at.body != nullptr && messages_.team().ahead()) {
      how = drained::spent;
      break;
    }
  }
  if (measure) {
    const std::uint64_t spent = messages_.team().instant() - begin;
    on.tallies().handler_ticks.add(on.meter.measured(spent));
    const bool ours = how != drained::blocked && how != drained::left_to_reader;
    if (ours && at.body != nullptr && run != 0) {
      const double seconds =
          static_cast<double>(spent) * messages_.team().seconds_a_tick() + std::exchange(on.charged, 0);
      at.body->handler_seconds += (seconds / run - at.body->handler_seconds) / 4;
    }
  }
  return how;
}

object_space::drained object_space::run_front(entry& at, lane& on) {
  message_list& pending = at.body->pending;
  const message_header& header = pending.front()->header;
  const detail::handler_info* row = nullptr;
  if (header.kind == message_kind::object) {
    row = messages_.handlers().handler(header.handler);
    if (row == nullptr || row->target_key != at.body->type->key) {
      messages_.fail("rank " + std::to_string(header.source) + " sent a message that fits no member of " +
                     std::string(at.body->type->name));
      static_cast<void>(pending.pop_front());
      return drained::empty;
    }
    if (row->shared) return run_shared(at, on, pending.pop_front());
  }
  if (!at.gate.try_exclusive()) {
    NACRE_MARK("an exclusive message waits for shared handlers");
    return drained::blocked;
  }
  switch (header.kind) {
    case message_kind::migrate:
      migrate_front(at, on);
      return drained::empty;
    case message_kind::destroy:
      end_object(at, on);
      return drained::empty;
    default:
      return run_exclusive(at, on, pending.pop_front(), *row);
  }
}

object_space::drained object_space::run_exclusive(entry& at, lane& on, message_ptr m, const detail::handler_info& row) {
  if (!row.coroutine) {
    messages_.run(on, std::move(m), at.body->object);
    return drained::empty;
  }
  at.exclusive_coroutine.store(entry::coroutine::inline_, std::memory_order_relaxed);  // the run below publishes it
  messages_.run(on, std::move(m), at.body->object);
  auto seen = entry::coroutine::inline_;
  // acq_rel: pairs with the exchange in coroutine_ended; whichever comes second lets the activation go on.
  if (at.exclusive_coroutine.compare_exchange_strong(seen, entry::coroutine::suspended, std::memory_order_acq_rel)) {
    return drained::blocked;
  }
  return drained::empty;
}

/// The reader runs here. The activation is given back first, to nobody or to whoever takes its ticket, so that others
/// may begin beside it, but none before it: messages start in their order.
object_space::drained object_space::run_shared(entry& at, lane& on, message_ptr m) {
  at.gate.enter_shared();
  publish_load(at);
  const bool more = !at.body->pending.empty() || at.arrivals.finish() != inbox::finished::yes;
  if (more) let_go_on(at, on);
  const bool coroutine = messages_.handlers().handler(m->header.handler)->coroutine;
  messages_.run(on, std::move(m), at.body->object);
  if (!coroutine) end_access(at, on, &end_shared_work, true);
  return drained::left_to_reader;
}

/// Ends an access once the time that the handler has spent is over, which on threads is now.
void object_space::end_access(entry& at, lane& on, work::runner end, bool shared) {
  if (messages_.team().ahead()) return later(at, on, end);
  if (!shared || at.gate.leave_shared()) let_go_on(at, on);
}

/// Makes a piece of work about an entry ready. The entry stays: its gate or its activation is held.
void object_space::later(entry& at, lane& on, work::runner what) {
  message_ptr m = make_message(0);
  m->header.object = at.id.value();
  m->run_by(what);
  messages_.team().make_ready(on, *m.release());
}

entry& object_space::held_entry(work& item) {
  const message_ptr m(static_cast<message*>(&item));
  entry* const at = entries_.find(object_id::from_value(m->header.object));
  NACRE_ASSERT(at != nullptr, "an object went away under its handler");
  return *at;
}

void object_space::end_shared_work(work& item, lane& on) {
  object_space& self = space_of(on);
  entry& at = self.held_entry(item);
  if (at.gate.leave_shared()) self.let_go_on(at, on);
}

void object_space::end_exclusive_work(work& item, lane& on) {
  object_space& self = space_of(on);
  self.let_go_on(self.held_entry(item), on);
}

void object_space::go_on_work(work& item, lane& on) {
  object_space& self = space_of(on);
  message_list none;
  self.run_claimed(self.held_entry(item), on, none, true);
}

void object_space::let_go_on(entry& at, lane& on) {
  at.arrivals.requeue();
  messages_.team().make_ready(on, at, crew::origin::elsewhere);
}

void object_space::coroutine_ended(lane& on, const message_header& request, const detail::handler_info& handler) {
  entry* const at = entries_.find(object_id::from_value(request.object));
  NACRE_ASSERT(at != nullptr, "an object went away under a coroutine handler");
  if (handler.shared) return end_access(*at, on, &end_shared_work, true);
  // acq_rel: pairs with the exchange in run_exclusive.
  if (at->exclusive_coroutine.exchange(entry::coroutine::ended, std::memory_order_acq_rel) ==
      entry::coroutine::suspended) {
    end_access(*at, on, &end_exclusive_work, false);
  }
}

void object_space::publish_load(entry& at) {
  std::uint32_t messages = 0;
  double declared = 0, seconds = 0;
  if (at.body != nullptr) {
    const resident& body = *at.body;
    messages = static_cast<std::uint32_t>(body.pending.size());
    if (body.type->load != nullptr) {
      declared = body.type->load(body.object);
    } else {
      seconds = body.handler_seconds;
    }
  }
  // Estimates for the poll loop: relaxed.
  at.pending_estimate.store(messages, std::memory_order_relaxed);
  at.declared_load.store(declared, std::memory_order_relaxed);
  at.seconds_a_message.store(seconds, std::memory_order_relaxed);
}

}  // namespace nacre
