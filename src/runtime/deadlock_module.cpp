// SPDX-License-Identifier: Apache-2.0
// Detection of a deadlock on real threads: checks of the rank, names of the waiting handlers, and the message.
#include "runtime/deadlock_module.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <nacre/task.hpp>

#include "mobile/object/waiting_report.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t passes_per_clock_read = 64;
constexpr std::uint32_t children_max = 4;          // of a rank in the tree by which ranks hear that waits are given up
constexpr std::size_t calls_looked_at = 1u << 14;  // to name handlers; takes about a millisecond

}  // namespace

deadlock_module::deadlock_module(am_engine& messages, const objects& subjects, const backplane& link, clock& time,
                                 std::chrono::nanoseconds patience, views see)
    : messages_(messages),
      objects_(subjects),
      link_(link),
      time_(time),
      started_(time.now()),
      watches_(patience.count() != 0 && messages.rank().value() == 0 && !messages.deferred()),
      see_(std::move(see)),
      detector_({.self = messages.rank(), .size = messages.size(), .patience = patience, .started = started_}) {
  messages_.attach_module(*this);
}

void deadlock_module::look(thread_context& thread) {
  thread_ = &thread;
  const quiescence::deadlock_detector::snapshot now = see_.look();
  runs_ = now.running != 0;
  detector_.on_look(*this, now);
}

std::chrono::nanoseconds deadlock_module::look_at_clock(thread_context& thread) {
  const std::uint64_t waits = link_.waits();
  const bool slept = std::exchange(waits_seen_, waits) != waits;
  if ((slept || ++passes_ % passes_per_clock_read == 0) && time_.now() >= detector_.due()) look(thread);
  return detector_.due();
}

/// The reason has come, or has gone.
void deadlock_module::hurry(thread_context& thread) {
  hurried_ = !hurried_;
  if (!hurried_ || messages_.deferred()) return;  // under simulation a deadlock is seen at once
  if (messages_.rank().value() != 0) return messages_.post_to_module<&deadlock_module::on_hurry>(thread, rank_id{0});
  hurries_ = true;
  detector_.hurry(time_.now());
}

void deadlock_module::on_hurry(context&) {
  hurries_ = true;
  detector_.hurry(time_.now());
}

void deadlock_module::give_up_waits() { give_up_from_here(*thread_); }

void deadlock_module::on_give_up(context& ctx) { give_up_from_here(detail::thread_of(ctx)); }

/// On this rank and those below it in a tree.
void deadlock_module::give_up_from_here(thread_context& thread) {
  const std::uint64_t first = std::uint64_t{messages_.rank().value()} * children_max + 1;
  for (std::uint64_t child = first; child < std::min<std::uint64_t>(first + children_max, messages_.size()); ++child) {
    messages_.post_to_module<&deadlock_module::on_give_up>(thread, rank_id{static_cast<std::uint32_t>(child)});
  }
  objects_.activation.end_waits(thread);
}

void deadlock_module::on_probe(context& ctx, std::uint32_t wave, bool names) {
  if (detector_.on_probe(ctx.source(), wave, names)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " asks out of turn whether the job stands still");
}

void deadlock_module::on_answer(context& ctx, std::uint32_t wave, const report& sums) {
  thread_ = &detail::thread_of(ctx);
  if (detector_.on_answer(*this, ctx.source(), wave, sums)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " tells unasked whether the job stands still");
}

void deadlock_module::send_probe(rank_id child, std::uint32_t wave, bool names) {
  messages_.post_to_module<&deadlock_module::on_probe>(*thread_, child, wave, names);
}

void deadlock_module::send_answer(rank_id parent, std::uint32_t wave, report sums) {
  messages_.post_to_module<&deadlock_module::on_answer>(*thread_, parent, wave, std::move(sums));
}

deadlock_module::report deadlock_module::report_of_rank() {
  report report;
  report.calls = messages_.calls().count();
  report.commands = messages_.calls().commands(calls_looked_at);
  if (const auto main = see_.main()) report.note_main(messages_.rank(), *main);
  if (runs_) {  // what runs may change all that the rest of this function looks at
    name_running(report);
    return report;
  }
  objects_.contributed.name_incomplete(report.handlers);
  objects_.waiting.name_awaiting_messages(report.handlers);
  see_.name_waiting(report.handlers);
  name_handlers(report);
  return report;
}

/// The names are those of one run if the number of handlers that have begun is the same before and after.
void deadlock_module::name_running(report& report) const {
  const std::string place = " on rank " + std::to_string(messages_.rank().value());
  const auto add = [&](std::string text) {
    if (report.unreturned.size() < report::handlers_told_max) report.unreturned.push_back(std::move(text));
  };
  if (!see_.main()) add("main" + place);
  const worker_pool& pool = messages_.pool();
  std::uint32_t named = 0;
  for (std::uint32_t index = 0; index < pool.workers(); ++index) {
    const thread_context& worker = *pool.thread_contexts()[index];
    const std::uint64_t begun = worker.counters().handlers.read();
    const running_handler::names now = worker.running.read();
    const detail::handler_info* const row = messages_.handlers().handler(now.handler);
    if (now.handler == 0 || row == nullptr || worker.counters().handlers.read() != begun) continue;
    ++named;
    const object_id object = object_id::from_value(now.object);
    add("the handler " + std::string(row->name) + (object.valid() ? " on " + objects_.names.name_of(object) : "") +
        place + ", worker " + std::to_string(index));
  }
  const std::uint32_t idle = std::min(pool.idle_workers(), pool.workers());
  for (std::uint32_t other = named + idle; other < pool.workers(); ++other) add("work that is no handler" + place);
}

/// No handler runs on this rank, and only this poll loop could start one. So suspended coroutines stay suspended.
void deadlock_module::name_handlers(report& report) const {
  messages_.calls().visit(calls_looked_at, [&](std::uint64_t number, const detail::future_state& state) {
    const detail::waiter* const waiter = state.awaited_by();
    if (waiter == nullptr || waiter->coroutine == nullptr) return;
    ++report.awaited;
    const auto object = object_id::from_value(waiter->coroutine->request().object);
    const auto waiting_messages = objects_.waiting.waiting_at(object, number);
    if (waiting_messages.has_call) ++report.self_calls;
    report.handlers.add(
        waiting_messages.has_call ? report_lines::urgency::cause : report_lines::urgency::other, 0, [&] {
          const std::string place = " on rank " + std::to_string(messages_.rank().value());
          std::string text(messages_.handlers().handler(waiter->coroutine->handler().value())->name);
          if (!object.valid()) return text + place + " awaits a call";
          text += " on " + objects_.names.name_of(object) + place +
                  (waiting_messages.has_call ? " awaits a handler of its own object" : " awaits a call");
          if (!waiting_messages.has_call && waiting_messages.messages != 0)
            text += ", messages that wait for the object: " + std::to_string(waiting_messages.messages);
          return text;
        });
  });
}

void deadlock_module::tell(const report& all, std::chrono::nanoseconds lasted) {
  std::fputs(quiescence::line_of_deadlock(all, lasted, time_.now() - lasted - started_).c_str(), stderr);
}

void deadlock_module::tell_going_on(std::chrono::nanoseconds lasted) {
  std::fputs(quiescence::line_of_going_on(lasted).c_str(), stderr);
}

}  // namespace nacre
