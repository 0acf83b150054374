// SPDX-License-Identifier: Apache-2.0
// Runs the messages that have arrived: finds the handler, the module, the waiting call, or the objects of each.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "am/am_engine.hpp"
#include "am/call_deadline.hpp"
#include "base/forked_child.hpp"

namespace nacre {
namespace {

/// True: the caller of `m`, on this rank, has cancelled the call, which is done now.
bool skip_cancelled(am_engine& messages, thread_context& on, const detail::handler_info& row, const message& m) {
  const bool alone = m.header.kind == message_kind::rank || m.header.kind == message_kind::object;
  if (!alone || m.header.reply == 0 || m.header.source != messages.rank().value()) return false;
  if (!messages.calls().take_cancelled(m.header.reply)) return false;
  if (row.coroutine) {  // there is no coroutine to end by itself
    if (m.header.kind == message_kind::object) messages.objects().coroutine_ended(on, m.header, row, 0);
    if (m.counted()) on.counters().done.add(1);
  }
  return true;
}

}  // namespace

void am_engine::deliver(thread_context& by, message_list& arrived) {
  while (message_ptr m = arrived.pop_front()) dispatch(by, std::move(m));
}

void am_engine::dispatch(thread_context& by, message_ptr m) {
  if (pool_.charges_own() && m->header.source != rank().value()) pool_.charge_own(own_work::receive);
  switch (m->header.kind) {
    case message_kind::rank:
      if ((m->header.flags & flag_communication) != 0) {
        return run(by, std::move(m), nullptr);
      }
      return make_ready(by, std::move(m));
    case message_kind::module: {
      const detail::handler_info* row = table_.handler(m->header.handler);
      if (row == nullptr) return refuse(*m, why_no_handler(m->header.handler));
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
  const std::uint64_t number = m->header.reply;
  std::unique_ptr<call_extras> extras;
  detail::future_state* state = calls_.close(number, extras);
  if (state == nullptr && !calls_.forget(number, extras)) return refuse(*m, "answers a call that nobody made");
  if (extras != nullptr) [[unlikely]] {
    cancellations_.tell(by, extras->watchers, number, call_news::over);
    if (state != nullptr && extras->too_late) return call_deadline::fail(*state, *extras->too_late, by);
  }
  if (state == nullptr) return;  // its caller has given up
  state->complete_with(std::move(m), by);
  state->release();
}

void am_engine::run_rank_message(work& item, thread_context& on) {
  on.messages().run_measured(on, message_ptr(static_cast<message*>(&item)));
}

void am_engine::run_measured(thread_context& on, message_ptr m) {
  const std::uint32_t handler = m->header.handler;
  const bool measure = on.meter.begin(handler);
  std::uint64_t begin = 0;
  if (measure) {
    on.note_size(size_or_least(*m));
    begin = pool_.instant();
  }
  run(on, std::move(m), nullptr);
  if (!measure) return;
  const std::uint64_t spent = pool_.instant() - begin;
  on.counters().handler_ticks.add(on.meter.measured(handler, spent));
  if (own_ != nullptr) own_->note_ticks(handler, spent);
}

void am_engine::make_ready(thread_context& by, message_ptr m) {
  arrived& from =
      arrived_.of(m->header.source, [&] { return std::make_unique<arrived>(m->header.source, taken_first_); });
  if (link_.declared().by_pointer) {
    const std::uint32_t item = m->header.sequence;  // see route
    from.messages.append_of(item, pool_.backlogged(), std::move(m));
  } else {
    from.messages.append(std::move(m));
  }
  from.messages.make_ready(by);
}

void am_engine::run_taken(thread_context& on, message_ptr m, ordered_messages& from) {
  if (m->header.kind == message_kind::bundle) return run_bundle(on, std::move(m), from);
  run_measured(on, std::move(m));
}

void am_engine::run(thread_context& on, message_ptr m, void* target) {
  const detail::handler_info* row = table_.handler(m->header.handler);
  if (row == nullptr) return refuse(*m, why_no_handler(m->header.handler));
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
  if (calls_.any_cancelled() && skip_cancelled(*this, on, row, *m)) return true;
  const std::uint32_t source = m->header.source;
  if (row.takes_addresses) [[unlikely]]
    address_warnings_.note(rank_id(source), row.id.value(), "an argument of", row.name);
  on.counters().handlers.add(1);
  pool_.charge_own(own_work::dispatch);
  const bool of_program = m->header.kind != message_kind::module;
  on.record_begin(of_program ? trace::event_kind::handler_begin : trace::event_kind::module_begin, row.id);
  on.running.begin(row.id, m->header.object);
  const detail::outcome how = row.invoke(core_, on, m, target, row.id);
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);
  on.running.end();
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

}  // namespace nacre
