// SPDX-License-Identifier: Apache-2.0
// The thread that watches a simulation, and its lines.
#include "runtime/simulation_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "am/am_engine.hpp"
#include "exec/own_thread.hpp"
#include "mobile/entry/object_functions.hpp"

namespace nacre {

stalled_simulation::finding stalled_simulation::look(const numbers& now) {
  const bool same_instant = has_looked_ && now.instant == last_.instant;
  const bool same_event = same_instant && now.events == last_.events;
  if (!same_instant) first_here_ = now.events;
  has_looked_ = true;
  last_ = now;
  const bool went_on = told_ == finding::event_runs ? !same_event : told_ != finding::none && !same_instant;
  looks_ = std::max(same_event_, same_instant_);
  same_event_ = same_event ? same_event_ + 1 : 0;
  same_instant_ = same_instant ? same_instant_ + 1 : 0;
  if (went_on) {
    told_ = finding::none;
    return finding::goes_on;
  }
  if (told_ != finding::none) return finding::none;
  if (same_event_ >= looks_in_patience) {
    told_ = finding::event_runs;
  } else if (same_instant_ >= looks_in_patience && same_event_ == 0) {
    told_ = finding::time_stands_still;
  }
  looks_ = std::max(same_event_, same_instant_);
  return told_;
}

simulation_watch::simulation_watch(const machine::simulation& watched, std::chrono::nanoseconds patience)
    : machine_(watched), interval_(patience / stalled_simulation::looks_in_patience), actor_(context_of_this_thread) {
  if (patience.count() == 0) return;
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // the simulation runs without a watch, too
  }
}

simulation_watch::~simulation_watch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void simulation_watch::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, interval_, [this] { return ends_; })) {
    tell(state_.look({machine_.events(), machine_.event_time()}));
  }
  const auto last = state_.look({machine_.events(), machine_.event_time()});
  if (last == stalled_simulation::finding::goes_on) tell(last);
}

/// Handlers are short where time stands still, so a look may well fall between two of them.
std::string simulation_watch::running_code() const {
  constexpr int rounds = 200, looks_in_round = 5000;
  const handler_table& table = handler_table::get();
  for (int look = 0; look < rounds * looks_in_round; ++look) {
    // The thread of the simulation may have lost its processor.
    if (look % looks_in_round == 0 && look != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const thread_context* const actor = actor_.load(std::memory_order_relaxed);  // the contexts outlive this object
    if (actor == nullptr) continue;
    const std::string place = " on rank " + std::to_string(actor->messages().rank().value());
    if (actor->role() == thread_role::application) return "main" + place;
    const running_handler::names now = actor->running.read();
    const detail::handler_info* const row = table.handler(now.handler);
    if (now.handler == 0 || row == nullptr) continue;
    const object_id object = object_id::from_value(now.object);
    return "the handler " + std::string(row->name) +
           (object.valid() && !object.is_element() ? " on " + name_of_object(nullptr, object) : "") + place;
  }
  return "code of the runtime";
}

void simulation_watch::tell(stalled_simulation::finding item) const {
  using finding = stalled_simulation::finding;
  if (item == finding::none) return;
  const double seconds = std::chrono::duration<double>(interval_).count() * state_.looks();
  const double instant = std::chrono::duration<double>(machine_.event_time()).count();
  std::string line;
  if (item == finding::event_runs) {
    line = fmt::format(
        "nacre: the simulation waits for code that has not returned for {:.3g} s, at {:.9f} s of virtual time: {}. A "
        "simulation has one thread, so code that waits by a lock, a semaphore or a promise stops it: a handler waits "
        "by co_await, main by get() of a nacre::future. --nacre.deadlock_patience=0s turns this line off\n",
        seconds, instant, running_code());
  } else if (item == finding::time_stands_still) {
    line = fmt::format(
        "nacre: virtual time stands still at {:.9f} s: {} events in {:.3g} s, for instance of {}. Where nothing takes "
        "time, messages that send each other never end: give the machine a latency or costs, or let the handlers "
        "charge theirs. --nacre.deadlock_patience=0s turns this line off\n",
        instant, state_.events_here(), seconds, running_code());
  } else {
    line = fmt::format("nacre: the simulation goes on after {:.3g} s\n", seconds);
  }
  std::fputs(line.c_str(), stderr);
}

}  // namespace nacre
