// SPDX-License-Identifier: Apache-2.0
// Waiting for quiescence or the next image, and holding objects.
#include "runtime/long_wait.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "base/report_lines.hpp"
#include "mobile/object/waiting_report.hpp"
#include "runtime/engine.hpp"
#include "runtime/timed_wait.hpp"

namespace nacre {
namespace {

constexpr double hold_seconds_max = 5;  // of a hold in which something goes on and on
// Of a hold in which nothing happens, though some open unit does not lie: longer than a message is under way.
constexpr std::chrono::milliseconds still_max{50};
constexpr std::chrono::milliseconds still_max_simulated{3};

/// Becomes ready when the request is answered. The caller gets one of two references.
detail::future_value<void>* requested(engine& core, thread_context& on, quiescence_module::answer_by how) {
  auto* const state = new detail::future_value<void>;
  state->acquire();
  core.quiet().request(
      on,
      [state](thread_context& by) {
        state->complete_with(make_message(0), by);
        state->release();
      },
      how);
  return state;
}

}  // namespace

long_wait::~long_wait() {
  if (quiet_ != nullptr) quiet_->release();
}

/// Waits for the result, or until the alarm rings. Returns whether the result is there.
bool long_wait::wait_or_alarm(thread_context& on, detail::future_state& state, const main_alarm::settings& how) {
  main_alarm& alarm = core_.images().alarm();
  return timed_wait().run(
      core_, on, quiescence::main_wait::quiescence, state,
      [&](timer& end) {
        alarm.set(end, how);
        if (!core_.messages().deferred()) core_.messages().wake_poll_loop();  // it may sleep for longer
        return true;
      },
      [&](timer&) { return alarm.take_back(); });
}

bool long_wait::until(thread_context& on, double due) {
  std::uint8_t quiet = 0;
  if (core_.rank().value() == 0) {
    if (quiet_ == nullptr) quiet_ = requested(core_, on, quiescence_module::answer_by::quiescence);
    const double left = std::max(0.0, due - core_.job_time().seconds());
    quiet = wait_or_alarm(on, *quiet_, {.due = core_.pool().instant_after(left)}) ? 1 : 0;
  }
  return runtime(core_, on).broadcast(quiet, rank_id(0)) != 0;
}

std::string long_wait::hold(thread_context& on) {
  runtime rt(core_, on);
  core_.objects().activation().hold().begin();
  std::uint8_t lies = 0;
  if (core_.rank().value() == 0) {
    detail::future_value<void>* const held = requested(core_, on, quiescence_module::answer_by::hold);
    const main_alarm::settings how{.due = core_.pool().instant_after(hold_seconds_max),
                                   .still_max = core_.messages().deferred() ? still_max_simulated : still_max};
    lies = wait_or_alarm(on, *held, how) ? 1 : 0;
    held->release();
  }
  if (rt.broadcast(lies, rank_id(0)) != 0) return {};
  const std::string why =
      rt.all_reduce(in_the_way(), [](const std::string& a, const std::string& b) { return !a.empty() ? a : b; });
  return why.empty() ? "messages or handlers that do not come to an end" : why;
}

void long_wait::release(thread_context& on) {
  core_.objects().activation().hold().end(on);
  core_.quiet().renew(on);
}

/// The reason why a unit of this rank does not lie, as far as it can be told.
std::string long_wait::in_the_way() {
  if (core_.pool().duties().timers().pending())
    return fmt::format("a sleep, a time limit or a message to be sent later, on rank {}", core_.rank().value());
  if (core_.outside().submissions.open_doors() != 0)
    return fmt::format("an open submitter, on rank {}", core_.rank().value());
  report_lines found(1);
  name_held_by_handlers(core_.objects(), found);
  core_.objects().contributed().name_incomplete(found);
  return found.lines().empty() ? std::string() : found.lines().front().text;
}

}  // namespace nacre
