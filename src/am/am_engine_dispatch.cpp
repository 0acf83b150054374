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
bool skip_cancelled(am_engine& messages, thread_context& thread, const detail::handler_info& row, const message& m) {
  const bool alone = m.header.kind == message_kind::rank || m.header.kind == message_kind::object;
  if (!alone || m.header.reply == 0 || m.header.source != messages.rank().value()) return false;
  if (!messages.calls().take_cancelled(m.header.reply)) return false;
  if (row.coroutine) {  // there is no coroutine to end by itself
    if (m.header.kind == message_kind::object) messages.objects().coroutine_ended(thread, m.header, row, 0);
    if (m.counted()) thread.counters().done.add(1);
  }
  return true;
}

}  // namespace

void am_engine::deliver(thread_context& thread, message_list& arrived) {
  while (message_ptr m = arrived.pop_front()) dispatch(thread, std::move(m));
}

void am_engine::dispatch(thread_context& thread, message_ptr m) {
  if (pool_.charges_own() && m->header.source != rank().value()) pool_.charge_own(own_work::receive);
  switch (m->header.kind) {
    case message_kind::rank:
      if ((m->header.flags & flag_communication) != 0) {
        return run(thread, std::move(m), nullptr);
      }
      return make_ready(thread, std::move(m));
    case message_kind::module: {
      const detail::handler_info* row = table_.handler(m->header.handler);
      if (row == nullptr) return refuse(*m, why_no_handler(m->header.handler));
      for (const module& each : modules_) {
        if (each.key == row->target_key) return run(thread, std::move(m), each.target);
      }
      return refuse(*m, "is for a module that this rank does not have");
    }
    case message_kind::reply: {
      const bool counted = m->counted();
      dispatch_reply(thread, std::move(m));
      if (counted) thread.counters().done.add(1);
      return;
    }
    case message_kind::bundle:
      return dispatch_bundle(thread, std::move(m));
    case message_kind::credit:
      return refuse(*m, "is of a kind that does not come here");
    default:
      objects_->accept(thread, std::move(m));
  }
}

void am_engine::dispatch_reply(thread_context& thread, message_ptr m) {
  const std::uint64_t number = m->header.reply;
  std::unique_ptr<call_extras> extras;
  detail::future_state* state = calls_.close(number, extras);
  if (state == nullptr && !calls_.forget(number, extras)) return refuse(*m, "answers a call that nobody made");
  if (extras != nullptr) [[unlikely]] {
    cancellations_.tell(thread, extras->watchers, number, call_news::over);
    if (state != nullptr && extras->too_late) return call_deadline::fail(*state, *extras->too_late, thread);
  }
  if (state == nullptr) return;  // its caller has given up
  state->complete_with(std::move(m), thread);
  state->release();
}

void am_engine::run_rank_message(work& item, thread_context& thread) {
  thread.messages().run_measured(thread, message_ptr(static_cast<message*>(&item)));
}

void am_engine::run_measured(thread_context& thread, message_ptr m) {
  const std::uint32_t handler = m->header.handler;
  const bool measure = thread.meter.begin(handler);
  std::uint64_t begin = 0;
  if (measure) {
    thread.note_size(size_or_least(*m));
    begin = pool_.instant();
  }
  run(thread, std::move(m), nullptr);
  if (!measure) return;
  const std::uint64_t spent = pool_.instant() - begin;
  thread.counters().handler_ticks.add(thread.meter.measured(handler, spent));
  if (own_bundles_ != nullptr) own_bundles_->note_ticks(handler, spent);
}

void am_engine::make_ready(thread_context& thread, message_ptr m) {
  arrived& source =
      arrived_.of(m->header.source, [&] { return std::make_unique<arrived>(m->header.source, taken_first_); });
  if (link_.declared().by_pointer) {
    const std::uint32_t item = m->header.sequence;  // see route
    source.messages.append_of(item, pool_.backlogged(), std::move(m));
  } else {
    source.messages.append(std::move(m));
  }
  source.messages.make_ready(thread);
}

void am_engine::run_taken(thread_context& thread, message_ptr m, ordered_messages& ordered_messages) {
  if (m->header.kind == message_kind::bundle) return run_bundle(thread, std::move(m), ordered_messages);
  run_measured(thread, std::move(m));
}

void am_engine::run(thread_context& thread, message_ptr m, void* target) {
  const detail::handler_info* row = table_.handler(m->header.handler);
  if (row == nullptr) return refuse(*m, why_no_handler(m->header.handler));
  const bool fits = (row->target_key == nullptr) == (target == nullptr);
  if (!fits) return refuse(*m, "names a handler of another kind");
  run(thread, *row, std::move(m), target);
}

void am_engine::run(thread_context& thread, const detail::handler_info& row, message_ptr m, void* target) {
  const bool counted = m->counted() && !row.coroutine;
  if (!run_and_leave(thread, row, m, target)) return;
  m.reset();
  if (counted) thread.counters().done.add(1);
}

bool am_engine::run_and_leave(thread_context& thread, const detail::handler_info& row, message_ptr& m, void* target) {
  if (calls_.any_cancelled() && skip_cancelled(*this, thread, row, *m)) return true;
  const std::uint32_t source = m->header.source;
  if (row.takes_addresses) [[unlikely]]
    address_warnings_.note(rank_id(source), row.id.value(), "an argument of", row.name);
  thread.counters().handlers.add(1);
  const bool of_program = m->header.kind != message_kind::module;
  if (pool_.charges_own()) [[unlikely]] {
    pool_.charge_own(own_work::dispatch);
    if (of_program) pool_.charge_own(own_work::handler);
  }
  thread.record_begin(of_program ? trace::event_kind::handler_begin : trace::event_kind::module_begin, row.id);
  thread.running.begin(row.id, m->header.object);
  const bool of_object = m->header.kind == message_kind::object || m->header.kind == message_kind::everyone;
  const double charged = thread.charged;
  const detail::outcome outcome = row.invoke(core_, thread, m, target, row.id);
  if (!of_object) thread.charged = charged;  // no load accounts it; that of an object is taken by step_clock
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);
  thread.running.end();
  thread.record_end();
  if (outcome == detail::outcome::done) return true;
  fail("a message from rank " + std::to_string(source) + " does not decode as the arguments of " +
       std::string(row.name));
  return false;
}

void am_engine::refuse(const message& m, std::string_view reason) {
  fail("a message from rank " + std::to_string(m.header.source) + " " + std::string(reason) + " (handler " +
       std::to_string(m.header.handler) + ")");
}

}  // namespace nacre
