// SPDX-License-Identifier: Apache-2.0
// Sending and dispatching active messages.
#include "am/node.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <nacre/assert.hpp>

#include "base/thrown.hpp"

namespace nacre {

node::node(engine& core, backplane& link, crew& team, packing values, std::function<void(const std::string&)> fail)
    : core_(core),
      link_(link),
      team_(team),
      packs_all_(values == packing::always),
      fail_(std::move(fail)),
      table_(handler_table::get()) {
  link_.attach(*this);
  for (const auto& each : team_.lanes()) each->attach(*this, nullptr);
}

void node::aggregate(const aggregator::settings& how) {
  for (const auto& each : team_.lanes()) {
    aggregators_.push_back(std::make_unique<aggregator>(*each, link_, how));
    each->attach(*this, aggregators_.back().get());
  }
}

void node::bound_main(std::uint64_t bytes_max) {
  ledger_ = std::make_unique<main_ledger>(bytes_max, [this] { link_.wake(); });
}

std::uint64_t node::flush_overdue(const lane& by) {
  std::uint64_t soonest = 0;
  if (aggregators_.empty()) return soonest;
  const std::uint64_t bound = aggregators_.front()->bound_ticks();
  for (const auto& each : aggregators_) {
    const std::uint64_t since = each->since();
    if (since == 0) continue;
    const std::uint64_t now = team_.instant();
    if (now >= since + bound) {
      each->flush(by);
    } else if (soonest == 0 || since + bound - now < soonest) {
      soonest = since + bound - now;
    }
  }
  return soonest;
}

message_ptr node::prepare(const lane& on, bool stays, message_ptr m) {
  const bool of_program = m->header.kind != message_kind::module;
  if (stays || by_pointer()) {
    if (stays && of_program) m = as_received(std::move(m));
    if (of_program) hold_main(on, *m);
  } else if (!m->packed()) {
    if (m->ops->simple) {
      check_payload(m->ops->packed_size(*m));
    } else {
      m = packed_form(std::move(m));
    }
  }
  return m;
}

message_ptr node::packed_to_leave(message_ptr m) {
  if (m->packed()) return m;
  const detail::handler_info* const row = handler_table::get().handler(m->header.handler);
  const auto name = [row] {
    return "packing the arguments of " + std::string(row != nullptr ? row->name : "an insertion") +
           " for an object that leaves";
  };
  return call_named(name, [&] { return packed_form(std::move(m)); });
}

void node::post(lane& on, rank_id to, message_ptr m, detail::future_state* result) {
  const bool stays = to == rank() && !deferred();
  const bool runs_here = stays && (m->header.flags & flag_communication) == 0 && m->header.kind == message_kind::rank;
  if (runs_here && !packs_all_) {
    hold_main(on, *m);  // all that prepare does for the commonest message
  } else {
    m = prepare(on, stays, std::move(m));
  }
  commit(on, [&] {
    m->header.source = rank().value();
    if (result != nullptr) m->header.reply = calls_.open(*result);
    if (m->counted()) on.tallies().created.add(1);
    if (!runs_here) return route(on, to, std::move(m));
    m->run_by(&run_rank_message);
    team_.make_ready(on, *m.release(), crew::made_on(on));
  });
}

void node::route(lane& on, rank_id to, message_ptr m) {
  team_.charge_own(to == rank() ? own_work::send_local : own_work::send);
  if (!aggregators_.empty() && to != rank()) {
    lane_tallies& tallies = on.tallies();
    tallies.messages_sent.add(1);
    const std::uint64_t bytes = sizeof(message_header) + aggregators_[on.id().value()]->append(to, std::move(m));
    tallies.bytes_sent.add(bytes);
    on.record_send(to, bytes);
    return;
  }
  if (!by_pointer() && (to != rank() || deferred())) m = packed_form(std::move(m));
  lane_tallies& tallies = on.tallies();
  tallies.messages_sent.add(1);
  const std::uint64_t bytes = sizeof(message_header) + m->header.payload_bytes;
  tallies.bytes_sent.add(bytes);
  on.record_send(to, bytes);
  link_.send(&on, to, std::move(m));
}

void node::post_module_message(lane& on, rank_id to, message_ptr m, channel over, std::uint8_t flags) {
  m->header.kind = message_kind::module;
  m->header.channel = over;
  m->header.flags = static_cast<std::uint8_t>(flags | flag_communication);
  post(on, to, std::move(m));
}

void node::post_reply(lane& on, const message_header& request, message_ptr reply) {
  reply->header.kind = message_kind::reply;
  reply->header.channel = request.channel;
  reply->header.reply = request.reply;
  reply->header.object = request.object;
  reply->header.flags |= flag_communication;
  const rank_id caller(request.source);
  if (caller == rank() && !deferred()) {
    dispatch_reply(on, as_received(std::move(reply)));
    return;
  }
  post(on, caller, std::move(reply));
}

message_ptr node::make_failure(std::string_view what, std::string_view type) {
  message_ptr reply = make_message(type.size() + 1 + what.size());
  char* const text = reinterpret_cast<char*>(reply->body());
  *std::copy(type.begin(), type.end(), text) = '\0';
  std::copy(what.begin(), what.end(), text + type.size() + 1);
  reply->header.flags = flag_failed;
  return reply;
}

void node::post_failure(lane& on, const message_header& request, std::string_view what, std::string_view type) {
  post_reply(on, request, make_failure(what, type));
}

void node::flush(lane& by) {
  if (by.idle() || by.role() == lane_role::progress) by.flush();
}

void node::deliver(lane& by, message_list& arrived) {
  while (message_ptr m = arrived.pop_front()) dispatch(by, std::move(m));
}

void node::dispatch(lane& by, message_ptr m) {
  if (team_.charges_own() && m->header.source != rank().value()) team_.charge_own(own_work::receive);
  switch (m->header.kind) {
    case message_kind::rank:
      if ((m->header.flags & flag_communication) != 0) {
        run(by, std::move(m), nullptr);
      } else {
        m->run_by(&run_rank_message);
        team_.make_ready(by, *m.release());
      }
      return;
    case message_kind::module: {
      const detail::handler_info* row = table_.handler(m->header.handler);
      if (row == nullptr) return refuse(*m, "names no handler");
      for (const module& each : modules_) {
        if (each.key == row->target_key) return run(by, std::move(m), each.target);
      }
      return refuse(*m, "is for a part of the runtime that this rank does not have");
    }
    case message_kind::reply: {
      const bool counted = m->counted();
      dispatch_reply(by, std::move(m));
      if (counted) by.tallies().done.add(1);
      return;
    }
    case message_kind::bundle:
      return dispatch_bundle(by, std::move(m));
    case message_kind::credit:
      return refuse(*m, "is of a kind that does not come here");
    default:
      objects_->accept(by, std::move(m));
  }
}

void node::dispatch_reply(lane& by, message_ptr m) {
  detail::future_state* state = calls_.close(m->header.reply);
  if (state == nullptr) return refuse(*m, "answers a call that nobody made");
  state->complete_with(std::move(m), by);
  state->release();
}

void node::run_rank_message(work& item, lane& on) {
  const std::uint32_t handler = static_cast<message&>(item).header.handler;
  const bool measure = on.meter.begin(handler);
  std::uint64_t begin = 0;
  if (measure) {
    on.note_size(size_of(static_cast<message&>(item)));
    begin = on.team().instant();
  }
  on.messages().run(on, message_ptr(static_cast<message*>(&item)), nullptr);
  if (measure) on.tallies().handler_ticks.add(on.meter.measured(handler, on.team().instant() - begin));
}

void node::run(lane& on, message_ptr m, void* target) {
  const detail::handler_info* row = table_.handler(m->header.handler);
  if (row == nullptr) return refuse(*m, "names no handler");
  const bool fits = (row->target_key == nullptr) == (target == nullptr);
  if (!fits) return refuse(*m, "names a handler of another kind");
  run(on, *row, std::move(m), target);
}

void node::run(lane& on, const detail::handler_info& row, message_ptr m, void* target) {
  const bool counted = m->counted() && !row.coroutine;
  if (!run_and_leave(on, row, m, target)) return;
  m.reset();
  if (counted) on.tallies().done.add(1);
}

bool node::run_and_leave(lane& on, const detail::handler_info& row, message_ptr& m, void* target) {
  const std::uint32_t source = m->header.source;
  on.tallies().handlers.add(1);
  team_.charge_own(own_work::dispatch);
  const bool of_program = m->header.kind != message_kind::module;
  on.record_begin(of_program ? trace::event_kind::handler_begin : trace::event_kind::part_begin, row.id);
  const detail::outcome how = row.invoke(core_, on, m, target, row.id);
  on.record_end();
  if (how == detail::outcome::done) return true;
  fail("a message from rank " + std::to_string(source) + " does not decode as the arguments of " +
       std::string(row.name));
  return false;
}

void node::refuse(const message& m, std::string_view why) {
  fail("a message from rank " + std::to_string(m.header.source) + " " + std::string(why) + " (handler " +
       std::to_string(m.header.handler) + ")");
}

/// A simulation's want of memory is told where its ranks are known; see runtime/job.cpp.
void node::escaped(lane&) {
  try {
    throw;
  } catch (const std::bad_alloc& thrown) {
    if (deferred()) throw;
    fail(thrown.what());
  } catch (...) {
    fail(text_of_thrown());
  }
}

void node::peer_failed(const transport::failure& what) {
  // The launcher, where there is one, prints the line for the whole job.
  fail(what.announced ? std::string() : transport::describe(what));
}

}  // namespace nacre
