// SPDX-License-Identifier: Apache-2.0
// Detection of a deadlock on real threads: checks of the rank, names of the waiting handlers, and the message.
#include "runtime/deadlock_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <nacre/task.hpp>

#include "mobile/object/waiting_report.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t passes_per_clock_read = 64;
constexpr std::size_t calls_looked_at = 1u << 14;  // to name handlers; takes about a millisecond

}  // namespace

deadlock_watch::deadlock_watch(am_engine& messages, object_space& objects, const backplane& link, clock& time,
                               std::chrono::nanoseconds patience, views see)
    : messages_(messages),
      objects_(objects),
      link_(link),
      time_(time),
      watches_(patience.count() != 0 && messages.rank().value() == 0 && !messages.deferred()),
      see_(std::move(see)),
      detector_({.self = messages.rank(), .size = messages.size(), .patience = patience, .started = time.now()}) {
  messages_.attach_module(*this);
}

void deadlock_watch::look(thread_context& by, bool at_rest) {
  by_ = &by;
  detector_.on_look(*this, at_rest ? see_.look() : quiescence::deadlock_detector::snapshot{});
}

std::chrono::nanoseconds deadlock_watch::look_at_clock(thread_context& by) {
  const std::uint64_t waits = link_.waits();
  const bool slept = std::exchange(waits_seen_, waits) != waits;
  if ((slept || ++passes_ % passes_per_clock_read == 0) && time_.now() >= detector_.due()) look(by, true);
  return detector_.due();
}

void deadlock_watch::on_probe(context& ctx, std::uint32_t wave, bool names) {
  if (detector_.on_probe(ctx.source(), wave, names)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " asks out of turn whether the job stands still");
}

void deadlock_watch::on_answer(context& ctx, std::uint32_t wave, const report& sums) {
  by_ = &detail::thread_of(ctx);
  if (detector_.on_answer(*this, ctx.source(), wave, sums)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " tells unasked whether the job stands still");
}

void deadlock_watch::send_probe(rank_id child, std::uint32_t wave, bool names) {
  messages_.post_to_module<&deadlock_watch::on_probe>(*by_, child, wave, names);
}

void deadlock_watch::send_answer(rank_id parent, std::uint32_t wave, report sums) {
  messages_.post_to_module<&deadlock_watch::on_answer>(*by_, parent, wave, std::move(sums));
}

deadlock_watch::report deadlock_watch::report_of_rank() {
  report own;
  own.calls = messages_.calls().count();
  own.commands = messages_.calls().commands(calls_looked_at);
  own.note_main(messages_.rank(), see_.main());
  objects_.contributed().name_incomplete(report::handlers_told_max, own.handlers);
  name_awaiting_messages(objects_, report::handlers_told_max, own.handlers);
  see_.name_deferred(report::handlers_told_max, own.handlers);
  own.handlers.resize(std::min(own.handlers.size(), report::handlers_told_max));
  name_handlers(own);
  return own;
}

/// No handler runs on this rank, and only this poll loop could start one. So suspended coroutines stay suspended.
void deadlock_watch::name_handlers(report& own) const {
  messages_.calls().visit(calls_looked_at, [&](std::uint64_t number, const detail::future_state& state) {
    const detail::waiter* const by = state.awaited_by();
    if (by == nullptr || by->coroutine == nullptr) return;
    ++own.awaited;
    const auto object = object_id::from_value(by->coroutine->request().object);
    const auto at = waiting_at(objects_, object, number);
    if (at.has_call) ++own.own;
    if (own.handlers.size() == report::handlers_told_max && !at.has_call) return;
    const std::string place = " on rank " + std::to_string(messages_.rank().value());
    std::string text(messages_.handlers().handler(by->coroutine->handler().value())->name);
    if (!object.valid()) {
      text += place + " awaits a call";
    } else {
      text += " on " + objects_.arrays().name_of(object) + place +
              (at.has_call ? " awaits a handler of its own object" : " awaits a call");
      if (!at.has_call && at.messages != 0)
        text += ", messages that wait for the object: " + std::to_string(at.messages);
    }
    own.handlers.insert(at.has_call ? own.handlers.begin() : own.handlers.end(), std::move(text));
    own.handlers.resize(std::min(own.handlers.size(), report::handlers_told_max));
  });
}

void deadlock_watch::tell(const report& all, std::chrono::nanoseconds lasted) {
  std::fputs(quiescence::line_of_deadlock(all, lasted).c_str(), stderr);
}

void deadlock_watch::tell_going_on(std::chrono::nanoseconds lasted) {
  std::fputs(quiescence::line_of_going_on(lasted).c_str(), stderr);
}

}  // namespace nacre
