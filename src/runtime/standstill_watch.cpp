// SPDX-License-Identifier: Apache-2.0
// Looks, names and lines of a job that stands still.
#include "runtime/standstill_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <nacre/task.hpp>

namespace nacre {
namespace {

constexpr std::uint32_t turns_for_the_clock = 64;
constexpr std::size_t calls_looked_at = 1u << 14;  // for names; about a millisecond

std::string text_of(object_id id) {
  return "object " + std::to_string(id.home().value()) + ":" + std::to_string(id.index());
}

}  // namespace

standstill_watch::standstill_watch(node& messages, const object_space& objects, const backplane& link, clock& time,
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

void standstill_watch::look(lane& by, bool at_rest) {
  by_ = &by;
  detector_.on_look(*this, at_rest ? see_.look() : quiescence::standstill_detector::snapshot{});
}

std::chrono::nanoseconds standstill_watch::look_at_clock(lane& by) {
  const std::uint64_t waits = link_.waits();
  const bool slept = std::exchange(waits_seen_, waits) != waits;
  if ((slept || ++turns_ % turns_for_the_clock == 0) && time_.now() >= detector_.due()) look(by, true);
  return detector_.due();
}

void standstill_watch::on_probe(context& ctx, std::uint32_t wave, bool names) {
  if (detector_.on_probe(ctx.source(), wave, names)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " asks out of turn whether the job stands still");
}

void standstill_watch::on_answer(context& ctx, std::uint32_t wave, const report& sums) {
  by_ = &detail::lane_of(ctx);
  if (detector_.on_answer(*this, ctx.source(), wave, sums)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " tells unasked whether the job stands still");
}

void standstill_watch::send_probe(rank_id child, std::uint32_t wave, bool names) {
  messages_.post_to_module<&standstill_watch::on_probe>(*by_, child, wave, names);
}

void standstill_watch::send_answer(rank_id parent, std::uint32_t wave, report sums) {
  messages_.post_to_module<&standstill_watch::on_answer>(*by_, parent, wave, std::move(sums));
}

standstill_watch::report standstill_watch::report_of_rank() {
  report own;
  own.calls = messages_.calls().count();
  own.note_main(messages_.rank(), see_.main());
  name_handlers(own);
  return own;
}

/// Nothing runs on this rank, and only this poll loop could change that. So suspended coroutines stay where they are.
void standstill_watch::name_handlers(report& own) const {
  messages_.calls().visit(calls_looked_at, [&](std::uint64_t number, const detail::future_state& state) {
    const detail::waiter* const by = state.awaited_by();
    if (by == nullptr || by->coroutine == nullptr) return;
    ++own.awaited;
    const auto object = object_id::from_value(by->coroutine->request().object);
    const auto at = objects_.waiting_at(object, number);
    if (at.has_call) ++own.own;
    if (own.handlers.size() == report::handlers_told_max && !at.has_call) return;
    const std::string place = " on rank " + std::to_string(messages_.rank().value());
    std::string text(messages_.handlers().handler(by->coroutine->handler().value())->name);
    if (!object.valid()) {
      text += place + " awaits a call";
    } else {
      text +=
          " on " + text_of(object) + place + (at.has_call ? " awaits a handler of its own object" : " awaits a call");
      if (!at.has_call && at.messages != 0)
        text += ", messages that wait for the object: " + std::to_string(at.messages);
    }
    own.handlers.insert(at.has_call ? own.handlers.begin() : own.handlers.end(), std::move(text));
    own.handlers.resize(std::min(own.handlers.size(), report::handlers_told_max));
  });
}

void standstill_watch::tell(const report& all, std::chrono::nanoseconds lasted) {
  std::fputs(quiescence::line_of_standstill(all, lasted).c_str(), stderr);
}

void standstill_watch::tell_going_on(std::chrono::nanoseconds lasted) {
  std::fputs(quiescence::line_of_going_on(lasted).c_str(), stderr);
}

}  // namespace nacre
