// SPDX-License-Identifier: Apache-2.0
// Waiting for quiescence or the next image, and holding objects.
#include "runtime/long_wait.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "base/report_lines.hpp"
#include "join/launch/image_wish.hpp"
#include "mobile/object/waiting_report.hpp"
#include "runtime/engine.hpp"
#include "runtime/timed_wait.hpp"

namespace nacre {
namespace {

constexpr double hold_seconds_max = 5;  // of a hold in which something goes on and on
// Of a hold in which nothing happens, though some open unit does not lie: longer than a message is under way.
constexpr std::chrono::milliseconds still_max{50};
constexpr std::chrono::milliseconds still_max_simulated{3};

/// Becomes ready when the request is answered.
std::shared_ptr<detail::future_value<void>> requested(engine& core, thread_context& thread,
                                                      quiescence_module::answer_by answer_by) {
  const std::shared_ptr<detail::future_value<void>> state(
      new detail::future_value<void>, [](detail::future_value<void>* future_value) { future_value->release(); });
  core.quiet().request(
      thread, [state](thread_context& caller) { state->complete_with(make_message(0), caller); }, answer_by);
  return state;
}

}  // namespace

/// Waits for the result, or until the alarm rings. Returns whether the result is there.
bool long_wait::wait_or_alarm(thread_context& thread, detail::future_state& state,
                              const main_alarm::settings& settings) {
  main_alarm& alarm = core_.images().alarm();
  return timed_wait().run(
      core_, thread, quiescence::main_wait::quiescence, state,
      [&](timer& end) {
        alarm.set(end, settings);
        if (!core_.messages().deferred()) core_.messages().wake_poll_loop();  // it may sleep for longer
        return true;
      },
      [&](timer&) { return alarm.take_back(); });
}

long_wait::outcome long_wait::until(thread_context& thread, const limits& limits) {
  auto result = outcome::quiet;
  if (core_.rank().value() == 0) {
    if (quiet_ == nullptr) quiet_ = requested(core_, thread, quiescence_module::answer_by::quiescence);
    const auto instant_of = [&](double seconds) {
      return core_.pool().instant_after(std::max(0.0, seconds - core_.job_time().seconds()));
    };
    // In virtual time a look now and then would never let the job stand still.
    const bool looks = !core_.messages().deferred() && !core_.outside().stops.handled();
    const main_alarm::settings alarm{.due = instant_of(limits.due),
                                     .wish_from = looks ? instant_of(limits.wish_from) : main_alarm::instant::max()};
    if (!wait_or_alarm(thread, *quiet_, alarm))
      result = launch::last_image_signal() != 0 && !core_.outside().stops.handled() ? outcome::wish : outcome::due;
  }
  return static_cast<outcome>(runtime(core_, thread).broadcast(static_cast<std::uint8_t>(result), rank_id(0)));
}

std::string long_wait::hold(thread_context& thread) {
  runtime rt(core_, thread);
  core_.objects().activation().begin_hold();
  std::uint8_t lies = 0;
  if (core_.rank().value() == 0) {
    const auto held = requested(core_, thread, quiescence_module::answer_by::hold);
    const main_alarm::settings settings{.due = core_.pool().instant_after(hold_seconds_max),
                                        .still_max = core_.messages().deferred() ? still_max_simulated : still_max};
    lies = wait_or_alarm(thread, *held, settings) ? 1 : 0;
  }
  if (rt.broadcast(lies, rank_id(0)) != 0) return {};
  const std::string reason =
      rt.all_reduce(in_the_way(), [](const std::string& a, const std::string& b) { return !a.empty() ? a : b; });
  return reason.empty() ? "messages or handlers that do not come to an end" : reason;
}

void long_wait::release(thread_context& thread) {
  core_.objects().activation().end_hold(thread);
  core_.quiet().renew(thread);
}

/// Names what keeps this rank from an image: a unit of work that neither runs nor lies at a held object. Empty: not
/// known.
std::string long_wait::in_the_way() {
  const timer_queue& timers = core_.pool().duties().timers();
  const std::uint64_t ended = timers.done();
  if (timers.created() - ended > core_.images().delayed().lying())
    return fmt::format("a sleep or a time limit, on rank {}", core_.rank().value());
  if (core_.outside().submissions.open_doors() != 0)
    return fmt::format("an open submitter, on rank {}", core_.rank().value());
  report_lines report(1);
  core_.objects().waiting().name_held_by_handlers(report);
  core_.objects().contributed().name_incomplete(report);
  return report.lines().empty() ? std::string() : report.lines().front().text;
}

}  // namespace nacre
