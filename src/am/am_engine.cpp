// SPDX-License-Identifier: Apache-2.0
// Sending and dispatching active messages.
#include "am/am_engine.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <nacre/assert.hpp>

#include "base/exception_text.hpp"

namespace nacre {

am_engine::am_engine(engine& core, backplane& link, worker_pool& pool, packing values,
                     std::function<void(const std::string&)> fail)
    : core_(core),
      link_(link),
      pool_(pool),
      packs_all_(values == packing::always),
      fail_(std::move(fail)),
      table_(handler_table::get()) {
  link_.attach(*this);
  for (const auto& each : pool_.thread_contexts()) each->attach(*this, nullptr);
}

void am_engine::aggregate(const aggregator::settings& how) {
  for (const auto& each : pool_.thread_contexts()) {
    aggregators_.push_back(std::make_unique<aggregator>(*each, link_, how));
    each->attach(*this, aggregators_.back().get());
  }
}

void am_engine::bound_main(std::uint64_t bytes_max) {
  window_ = std::make_unique<send_window>(bytes_max, [this] { link_.wake(); });
}

std::uint64_t am_engine::flush_overdue(const thread_context& by) {
  std::uint64_t soonest = 0;
  if (aggregators_.empty()) return soonest;
  const std::uint64_t bound = aggregators_.front()->bound_ticks();
  for (const auto& each : aggregators_) {
    const std::uint64_t since = each->since();
    if (since == 0) continue;
    const std::uint64_t now = pool_.instant();
    if (now >= since + bound) {
      each->flush(by);
    } else if (soonest == 0 || since + bound - now < soonest) {
      soonest = since + bound - now;
    }
  }
  return soonest;
}

message_ptr am_engine::prepare(const thread_context& on, bool stays, message_ptr m) {
  const bool of_program = m->header.kind != message_kind::module;
  if (stays || by_pointer()) {
    if (stays && of_program) m = as_received(std::move(m));
    if (of_program) acquire_window(on, *m);
  } else if (!m->packed()) {
    if (m->ops->simple) {
      check_payload(m->ops->packed_size(*m));
    } else {
      m = packed_form(std::move(m));
    }
  }
  return m;
}

message_ptr am_engine::packed_to_leave(message_ptr m) {
  if (m->packed()) return m;
  const detail::handler_info* const row = handler_table::get().handler(m->header.handler);
  const auto name = [row] {
    return "packing the arguments of " + std::string(row != nullptr ? row->name : "an insertion") +
           " for an object that leaves";
  };
  return call_named(name, [&] { return packed_form(std::move(m)); });
}

void am_engine::post(thread_context& on, rank_id to, message_ptr m, detail::future_state* result) {
  const bool stays = to == rank() && !deferred();
  const bool runs_here = stays && (m->header.flags & flag_communication) == 0 && m->header.kind == message_kind::rank;
  if (runs_here && !packs_all_) {
    acquire_window(on, *m);  // all that prepare does for the commonest message
  } else {
    m = prepare(on, stays, std::move(m));
  }
  commit(on, [&] {
    m->header.source = rank().value();
    if (result != nullptr) m->header.reply = calls_.open(*result);
    if (m->counted()) on.counters().created.add(1);
    if (!runs_here) return route(on, to, std::move(m));
    m->run_by(&run_rank_message);
    pool_.make_ready(on, *m.release(), worker_pool::made_on(on));
  });
}

void am_engine::route(thread_context& on, rank_id to, message_ptr m) {
  pool_.charge_own(to == rank() ? own_work::send_local : own_work::send);
  if (!aggregators_.empty() && to != rank()) {
    thread_counters& counters = on.counters();
    counters.messages_sent.add(1);
    const std::uint64_t bytes = sizeof(message_header) + aggregators_[on.id().value()]->append(to, std::move(m));
    counters.bytes_sent.add(bytes);
    on.record_send(to, bytes);
    return;
  }
  if (!by_pointer() && (to != rank() || deferred())) m = packed_form(std::move(m));
  thread_counters& counters = on.counters();
  counters.messages_sent.add(1);
  const std::uint64_t bytes = sizeof(message_header) + m->header.payload_bytes;
  counters.bytes_sent.add(bytes);
  on.record_send(to, bytes);
  link_.send(&on, to, std::move(m));
}

void am_engine::post_module_message(thread_context& on, rank_id to, message_ptr m, channel over, std::uint8_t flags) {
  m->header.kind = message_kind::module;
  m->header.channel = over;
  m->header.flags = static_cast<std::uint8_t>(flags | flag_communication);
  post(on, to, std::move(m));
}

void am_engine::post_reply(thread_context& on, const message_header& request, message_ptr reply) {
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

message_ptr am_engine::make_failure(std::string_view what, std::string_view type) {
  message_ptr reply = make_message(type.size() + 1 + what.size());
  char* const text = reinterpret_cast<char*>(reply->body());
  *std::copy(type.begin(), type.end(), text) = '\0';
  std::copy(what.begin(), what.end(), text + type.size() + 1);
  reply->header.flags = flag_failed;
  return reply;
}

void am_engine::post_failure(thread_context& on, const message_header& request, std::string_view what,
                             std::string_view type) {
  post_reply(on, request, make_failure(what, type));
}

void am_engine::flush(thread_context& by) {
  if (by.idle() || by.role() == thread_role::progress) by.flush();
}

void am_engine::deliver(thread_context& by, message_list& arrived) {
  while (message_ptr m = arrived.pop_front()) dispatch(by, std::move(m));
}

void am_engine::dispatch(thread_context& by, message_ptr m) {
  if (pool_.charges_own() && m->header.source != rank().value()) pool_.charge_own(own_work::receive);
  switch (m->header.kind) {
    case message_kind::rank:
      if ((m->header.flags & flag_communication) != 0) {
        run(by, std::move(m), nullptr);
      } else {
        m->run_by(&run_rank_message);
        pool_.make_ready(by, *m.release());
      }
      return;
    case message_kind::module: {
      const detail::handler_info* row = table_.handler(m->header.handler);
      if (row == nullptr) return refuse(*m, "names no handler");
      for (const module& each : modules_) {
        if (each.key == row->target_key) return run(by, std::move(m), each.target);
      }
      return refuse(*m, "is for a module that this rank does not have");
    }
    case message_kind::reply: {
      const bool counted = m->counted();
      dispatch_reply(by, std::move(m));
      if (counted) by.counters().done.add(1);
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

void am_engine::dispatch_reply(thread_context& by, message_ptr m) {
  detail::future_state* state = calls_.close(m->header.reply);
  if (state == nullptr) return refuse(*m, "answers a call that nobody made");
  state->complete_with(std::move(m), by);
  state->release();
}

void am_engine::run_rank_message(work& item, thread_context& on) {
  const std::uint32_t handler = static_cast<message&>(item).header.handler;
  const bool measure = on.meter.begin(handler);
  std::uint64_t begin = 0;
  if (measure) {
    on.note_size(size_of(static_cast<message&>(item)));
    begin = on.pool().instant();
  }
  on.messages().run(on, message_ptr(static_cast<message*>(&item)), nullptr);
  if (measure) on.counters().handler_ticks.add(on.meter.measured(handler, on.pool().instant() - begin));
}

void am_engine::run(thread_context& on, message_ptr m, void* target) {
  const detail::handler_info* row = table_.handler(m->header.handler);
  if (row == nullptr) return refuse(*m, "names no handler");
  const bool fits = (row->target_key == nullptr) == (target == nullptr);
  if (!fits) return refuse(*m, "names a handler of another kind");
  run(on, *row, std::move(m), target);
}

void am_engine::run(thread_context& on, const detail::handler_info& row, message_ptr m, void* target) {
  const bool counted = m->counted() && !row.coroutine;
  if (!run_and_leave(on, row, m, target)) return;
  m.reset();
  if (counted) on.counters().done.add(1);
}

bool am_engine::run_and_leave(thread_context& on, const detail::handler_info& row, message_ptr& m, void* target) {
  const std::uint32_t source = m->header.source;
  on.counters().handlers.add(1);
  pool_.charge_own(own_work::dispatch);
  const bool of_program = m->header.kind != message_kind::module;
  on.record_begin(of_program ? trace::event_kind::handler_begin : trace::event_kind::module_begin, row.id);
  const detail::outcome how = row.invoke(core_, on, m, target, row.id);
  on.record_end();
  if (how == detail::outcome::done) return true;
  fail("a message from rank " + std::to_string(source) + " does not decode as the arguments of " +
       std::string(row.name));
  return false;
}

void am_engine::refuse(const message& m, std::string_view why) {
  fail("a message from rank " + std::to_string(m.header.source) + " " + std::string(why) + " (handler " +
       std::to_string(m.header.handler) + ")");
}

/// A simulation's want of memory is told where its ranks are known; see runtime/job.cpp.
void am_engine::escaped(thread_context&) {
  try {
    throw;
  } catch (const std::bad_alloc& thrown) {
    if (deferred()) throw;
    fail(thrown.what());
  } catch (...) {
    fail(text_of_thrown());
  }
}

void am_engine::peer_failed(const transport::failure& what) {
  // The launcher, where there is one, prints the line for the whole job.
  fail(what.announced ? std::string() : transport::describe(what));
}

}  // namespace nacre
