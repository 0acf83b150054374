// SPDX-License-Identifier: Apache-2.0
// The activation of an entry: order, access, and the running of handlers.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/location/path.hpp"
#include "mobile/mobile.hpp"
#include "mobile/object/round_trip.hpp"

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
  turn now{at, on, {}};
  now.take_up();
  admit(now, taken);
  if (seized(at)) return arrive_seized(now);
  switch (drain(now, may_run)) {
    case drained::blocked:
    case drained::left_to_reader:
      return;
    case drained::spent:
      publish_load(now);
      now.put_back();
      return later(at, on, &go_on_work);
    case drained::yielded:
      publish_load(now);
      now.put_back();
      return let_go_on(at, on);
    case drained::empty:
      publish_load(now);
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

void object_space::turn::take_up() noexcept {
  if (entry_extra* const extra = at.extra(); extra != nullptr) pending.append(extra->pending);
}

void object_space::turn::put_back() {
  if (!pending.empty()) at.need_extra().pending.append(pending);
}

/// Takes messages in: arrivals are installed, others put into sequence, or sent on when the object is not here.
void object_space::admit(turn& now, message_list& taken) {
  while (message_ptr m = taken.pop_front()) {
    if (m->header.kind == news_of_end) {
      learn_of_end(now, *m);
    } else if (m->header.kind == leave_to_collect) {
      collect(now, *m);
    } else if (now.at.fact.collected()) {
      NACRE_MARK("a message comes to an entry that has been collected");
      accept(now.on, std::move(m));
    } else if (m->header.kind == message_kind::arrival) {
      install(now, std::move(m));
    } else if (now.at.object() == nullptr && !begin_place(now.at)) {
      if (now.at.fact.read().rank == messages_.rank()) {
        NACRE_MARK("a message waits in the inbox of an object that is destroyed");
        undeliverable(now.on, std::move(m));
      } else {
        NACRE_MARK("a message meets an object that has just departed");
        forward(now.at, now.on, std::move(m));
      }
    } else {
      put_into_sequence(now, std::move(m));
    }
  }
}

void object_space::put_into_sequence(turn& now, message_ptr m) {
  std::optional<std::vector<rank_id>> path{std::in_place};
  if ((m->header.flags & flag_path) != 0) path = take_path(*m, messages_.size());
  const std::uint32_t source = m->header.source;
  const bool forwarded = m->header.hops != 0;
  if (!path) {
    return messages_.fail("a message from rank " + std::to_string(source) + " tells not who has forwarded it");
  }
  entry_extra* extra = now.at.extra();
  if (m->header.kind == message_kind::claim) {  // of no stream
    now.pending.push_back(std::move(m));
  } else if ((extra == nullptr || extra->order.empty()) && now.at.order.admit(m->header)) {
    now.pending.push_back(std::move(m));
  } else {
    const streams::verdict how = all_streams(now.at).admit(m, now.pending);
    if (how == streams::verdict::early) NACRE_MARK("a message comes before an earlier one and is set aside");
    if (how == streams::verdict::repeated) {
      messages_.fail("rank " + std::to_string(source) + " sent a message to an object twice");
    }
  }
  if (forwarded) answer_late(now, rank_id(source), *path);
}

/// The streams of an entry for which a lone one is not enough.
streams& object_space::all_streams(entry& at) {
  entry_extra& extra = at.need_extra();
  if (!at.order.empty()) extra.order.absorb(at.order);
  return extra.order;
}

/// An object that is here has not been destroyed elsewhere.
void object_space::learn_of_end(turn& now, const message& news) {
  if (now.at.object() != nullptr) {
    return messages_.fail("rank " + std::to_string(news.header.source) + " told of the end of an object that lives");
  }
  forget(now.at, now.on);
  now.on.tallies().done.add(1);
}

/// Whether the object has no handlers, so that an exclusive one may begin. False: the activation is given up, to whom
/// ends the last of them.
bool object_space::alone(turn& now) {
  if (now.at.gate.idle()) return true;
  now.put_back();
  if (!now.at.gate.try_exclusive()) return false;
  now.take_up();
  return true;
}

/// Runs messages until there are none, the turn is over, one must wait, or a handler has spent simulated time, during
/// which nobody else may have the object. After `blocked` and `left_to_reader` the activation is somebody else's.
object_space::drained object_space::drain(turn& now, bool may_run) {
  entry& at = now.at;
  lane& on = now.on;
  const bool measure = on.meter.begin();
  const std::uint64_t begin = measure ? messages_.team().instant() : 0;
  int run = 0;
  drained how = drained::empty;
  while (at.object() != nullptr) {
    entry_extra* const extra = at.extra();
    // A wish: nothing hangs on when it is seen.
    if (extra != nullptr && extra->wanted_by.load(std::memory_order_relaxed) != entry_extra::nobody) {
      if (!alone(now)) {
        NACRE_MARK("a balancer's wish waits for shared handlers");
        how = drained::blocked;
        break;
      }
      const rank_id to(extra->wanted_by.exchange(entry_extra::nobody));
      if (to != messages_.rank()) static_cast<void>(leave_for(now, to, {}));
      continue;
    }
    if (now.pending.empty()) break;
    if (measure && run == 0) on.note_size(node::size_of(*now.pending.front()));
    if (!may_run || run == messages_a_turn) {
      how = drained::yielded;
      break;
    }
    ++run;
    how = run_front(now);
    if (how != drained::empty) break;
    if (messages_.team().ahead() && at.object() != nullptr) {
      how = drained::spent;
      break;
    }
  }
  if (measure) {
    const std::uint64_t spent = messages_.team().instant() - begin;
    on.tallies().handler_ticks.add(on.meter.measured(spent));
    const bool ours = how != drained::blocked && how != drained::left_to_reader;
    if (ours && at.object() != nullptr && run != 0) {
      const double seconds =
          static_cast<double>(spent) * messages_.team().seconds_a_tick() + std::exchange(on.charged, 0);
      const double before = at.handler_seconds.load();
      at.handler_seconds.store(before + (seconds / run - before) / 4);
    }
  }
  return how;
}

object_space::drained object_space::run_front(turn& now) {
  if (entry_extra* const extra = now.at.extra(); extra != nullptr && extra->together != nullptr) {
    if (extra->together->keep_back(now.pending)) return drained::empty;
  }
  const message_header& header = now.pending.front()->header;
  if (is_vacant(now.at) || header.kind == message_kind::insert) return run_on_place(now);
  const detail::handler_info* row = nullptr;
  const bool for_all = header.kind == message_kind::everyone;
  const bool ends = header.kind == message_kind::destroy || (for_all && header.handler == 0);
  if (header.kind == message_kind::object || (for_all && !ends)) {
    const detail::object_type& type = *messages_.handlers().type(now.at.type);
    row = messages_.handlers().handler(header.handler);
    if (row == nullptr || row->target_key != type.key) {
      messages_.fail("rank " + std::to_string(header.source) + " sent a message that fits no member of " +
                     std::string(type.name));
      static_cast<void>(now.pending.pop_front());
      return drained::empty;
    }
    if (row->shared) return run_shared(now, *row);
  }
  if (header.kind == message_kind::lock) return lock_front(now);
  if (header.kind == message_kind::join) return join_front(now);
  if (header.kind == message_kind::claim) return claim_front(now);
  if (!alone(now)) {
    NACRE_MARK("an exclusive message waits for shared handlers");
    return drained::blocked;
  }
  if (row != nullptr) return run_exclusive(now, *row);
  if (ends) {
    end_object(now);
  } else {
    migrate_front(now);
  }
  return drained::empty;
}

object_space::drained object_space::run_exclusive(turn& now, const detail::handler_info& row) {
  entry& at = now.at;
  if (!row.coroutine) {
    messages_.run(now.on, now.pending.pop_front(), at.object());
    check_serialization(at);
    return drained::empty;
  }
  at.exclusive_coroutine.store(entry::coroutine::inline_, std::memory_order_relaxed);  // the run below publishes it
  messages_.run(now.on, now.pending.pop_front(), at.object());
  now.put_back();
  auto seen = entry::coroutine::inline_;
  // acq_rel: pairs with the exchange in coroutine_ended; whichever comes second lets the activation go on.
  if (at.exclusive_coroutine.compare_exchange_strong(seen, entry::coroutine::suspended, std::memory_order_acq_rel)) {
    return drained::blocked;
  }
  check_serialization(at);
  now.take_up();
  return drained::empty;
}

/// The reader runs here. The activation is given back first, to nobody or to whoever takes its ticket, so that others
/// may begin beside it, but none before it: messages start in their order.
object_space::drained object_space::run_shared(turn& now, const detail::handler_info& row) {
  entry& at = now.at;
  message_ptr m = now.pending.pop_front();
  void* const object = at.object();
  at.gate.enter_shared();
  publish_load(now);
  const bool waiting = !now.pending.empty();
  now.put_back();
  if (waiting || at.arrivals.finish() != inbox::finished::yes) let_go_on(at, now.on);
  messages_.run(now.on, std::move(m), object);
  if (!row.coroutine) end_access(at, now.on, &end_shared_work, true);
  return drained::left_to_reader;
}

/// Ends an access once the time that the handler has spent is over, which on threads is now.
void object_space::end_access(entry& at, lane& on, work::runner end, bool shared) {
  if (!shared) check_serialization(at);
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

/// If that is asked for: the object goes on as what came out of its packed form, so that what its class forgets is lost
/// here as it would be elsewhere. Nobody else has access to it.
void object_space::check_serialization(entry& at) {
  if (!limits_.check_serialization || stays(at)) return;
  const detail::object_type& type = *messages_.handlers().type(at.type);
  void* object = at.object();
  const std::string found = round_trip(type, object);
  at.set_object(object);
  if (found.empty()) return;
  messages_.fail("an object of the class " + std::string(type.name) + " is not the same after it has been packed and " +
                 "unpacked, as when it moves: " + found + " (see what its serialize does)");
}

void object_space::publish_load(turn& now) {
  entry& at = now.at;
  entry_extra* extra = at.extra();
  const void* const object = at.object();
  if (object != nullptr) {
    const detail::object_type& type = *messages_.handlers().type(at.type);
    if (type.load != nullptr || type.may_migrate != nullptr) {
      extra = &at.need_extra();  // estimates for the poll loop
      if (type.load != nullptr) extra->declared_load.store(type.load(object), std::memory_order_relaxed);
      extra->stays.store(stays(at), std::memory_order_relaxed);
    }
  }
  if (extra != nullptr) {  // as above
    extra->pending_estimate.store(static_cast<std::uint32_t>(now.pending.size()), std::memory_order_relaxed);
  }
}

}  // namespace nacre
