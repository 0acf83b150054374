// SPDX-License-Identifier: Apache-2.0
// Stepping the thread contexts of a simulated rank.
#include "exec/sim_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <nacre/assert.hpp>

#include "base/processor_time.hpp"
#include "exec/bounded_charge.hpp"
#include "exec/main_pause.hpp"
#include "exec/own_thread.hpp"

namespace nacre {
namespace {

constexpr std::chrono::nanoseconds repeated_look{100};  // costs main a second look at one instant

/// Once in a process.
void tell_of_cut_charge(rank_id rank, double seconds) {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  std::fprintf(stderr,
               "nacre: rank %u charges %g s at once, and all above 1e6 s counts as 1e6 s: times of this run are too "
               "short (charge it in parts, or count in a smaller unit)\n",
               rank.value(), seconds);
}

}  // namespace

sim_pool::sim_pool(const settings& settings, const machine::runtime_costs& costs, backplane& link, scheduler& order,
                   machine::simulation& machine)
    : worker_pool(settings, link, order),
      costs_(costs),
      clock_cost_(costs.measured() ? cost_of_processor_time() : std::chrono::nanoseconds(0)),
      machine_(machine),
      simulated_(settings.workers + std::size_t{settings.communication_threads}) {
  poll_bound_ = 10'000;
  charges_own_ = true;
  for (std::uint32_t index = 0; index < settings.workers; ++index) enter_idle(worker(index));
}

void sim_pool::start(std::function<void()> application) {
  application_fiber_.emplace(std::move(application));
  machine_.at(machine_.event_time(), &resume_event, this, 0);
  resuming_ = true;
  schedule_wakeup();
}

void sim_pool::step_event(void* subject, std::uint64_t index) {
  static_cast<sim_pool*>(subject)->take_step(static_cast<std::uint32_t>(index));
}

void sim_pool::take_step(std::uint32_t index) {
  simulated_thread& simulated = simulated_[index];
  simulated.scheduled = false;
  const bool passed_on = std::exchange(simulated.passed_on, false);
  if (stopped_) return;
  // Work that a step makes ready may wake its own worker, before it is known when that will be free.
  if (machine_.event_time() < simulated.free_at) return schedule(index, simulated.free_at);
  const bool communicates = index >= workers();
  thread_context& thread = communicates ? progress_thread() : worker(index);
  const acting_scope actor(thread);
  thread.counters_.idle_ticks.add(static_cast<std::uint64_t>((machine_.event_time() - simulated.free_at).count()));
  thread.running_ = false;  // the time between this step and the last one was no work
  const std::uint64_t busy_before = thread.counters_.busy_ticks.read();
  thread.reader().online();
  const bool owes_poll = std::exchange(simulated.owes_poll, false);
  const bool is_found = communicates ? communicate(thread) : work_or_poll(thread, owes_poll);
  simulated.owes_poll = is_found && spending() && !has_communicators();
  thread.reader().offline();  // between steps it holds nothing, and may never step again
  if (is_found) spend_own(own_work::item, 1);
  simulated.free_at = machine_.now();
  // The step has counted its item; the rest of it is time in the runtime.
  const auto step_ticks = static_cast<std::uint64_t>((simulated.free_at - machine_.event_time()).count());
  thread.counters_.busy_ticks.add(step_ticks - (thread.counters_.busy_ticks.read() - busy_before));
  machine_.trace(link_.rank().value(), index, is_found ? 1u : 0u);
  if (std::exchange(pushed_in_step_, false) || is_found) schedule(index, simulated.free_at);
  if (has_communicators() && !communicates && !is_found) wake_poller();
  if (selective_ && !communicates && !is_found && !passed_on && ready_items() != 0) pass_on(index);
  schedule_wakeup();
}

/// A worker's step. `owes_poll`: its last item took time, and it has not polled since.
bool sim_pool::work_or_poll(thread_context& thread, bool owes_poll) {
  if (owes_poll) {
    thread.stepped_at_ = instant();
    if (thread.stepped_at_ - thread.polled_at_ > poll_bound_ || link_.congested()) {
      begin_measured();
      poll(thread);
      end_measured(true);
    }
  }
  in_step_ = workers() == 1;
  begin_measured();
  bool is_found = false;
  if (!has_communicators()) {
    is_found = step(thread);
  } else if (is_found = take_item(thread); !is_found) {
    enter_idle(thread);
    guarded(thread, [&] { thread.flush(); });
  }
  end_measured(is_found);
  in_step_ = false;
  return is_found;
}

/// A communication thread's step.
bool sim_pool::communicate(thread_context& thread) {
  begin_measured();
  const bool is_found = link_.progress(thread);
  end_measured(is_found);
  return is_found;
}

void sim_pool::schedule(std::uint32_t index, std::chrono::nanoseconds time) {
  simulated_thread& chosen = simulated_[index];
  if (chosen.scheduled) return;
  chosen.scheduled = true;
  machine_.at(std::max(time, chosen.free_at), &step_event, this, index);
}

void sim_pool::wake_worker() {
  const std::uint32_t first = workers() == 1 ? 0 : static_cast<std::uint32_t>(machine_.random().below(workers()));
  for (std::uint32_t offset = 0; offset < workers(); ++offset) {
    const std::uint32_t index = (first + offset) % workers();
    if (simulated_[index].scheduled) continue;
    schedule(index, machine_.now());
    return;
  }
}

/// Lets all other workers look once: what waits may be for one of them.
void sim_pool::pass_on(std::uint32_t index) {
  for (std::uint32_t other = 0; other < workers(); ++other) {
    if (other == index || simulated_[other].scheduled) continue;
    simulated_[other].passed_on = true;
    schedule(other, machine_.now());
  }
}

/// Wakes a thread that will poll: of the communication threads that sleep the one with the least number. When none
/// sleeps, each will poll once more.
void sim_pool::wake_poller() {
  if (!has_communicators()) return wake_worker();
  for (std::uint32_t index = workers(); index < simulated_.size(); ++index) {
    if (!simulated_[index].scheduled) return schedule(index, machine_.now());
  }
}

void sim_pool::on_arrival() {
  if (!stopped_) wake_poller();
}

/// A lone worker that makes work ready takes it itself, after its step. No event has to wait for the spent time to be
/// over, because no other worker could take the work before.
void sim_pool::make_ready(thread_context& thread, work& item, origin origin) {
  if (in_step_) {
    pushed_in_step_ = true;
    return push(thread, item, origin);
  }
  if (machine_.now() == machine_.event_time()) {
    push(thread, item, origin);
    wake_worker();
    return;
  }
  thread.counters_.readied.add(1);  // it waits already, though no worker can take it yet
  machine_.at(machine_.now(), &ready_event, this, keep_until_ready(thread, item));
}

/// The event loop runs the work itself: a worker would come to it behind all that waits in its queue.
void sim_pool::when_spent(thread_context& thread, work& item) {
  if (!spending()) return make_ready(thread, item);
  machine_.at(machine_.now(), &spent_event, this, keep_until_ready(thread, item));
}

/// Stores an item of work for a later event. Returns the worker and the slot as the event's argument.
std::uint64_t sim_pool::keep_until_ready(const thread_context& thread, work& item) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(not_yet_ready_.size());
    not_yet_ready_.push_back(&item);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    not_yet_ready_[slot] = &item;
  }
  return (std::uint64_t{thread.id().value()} << 32) | slot;
}

work& sim_pool::take_ready(std::uint64_t kept) {
  const auto slot = static_cast<std::uint32_t>(kept);
  free_slots_.push_back(slot);
  return *not_yet_ready_[slot];
}

void sim_pool::ready_event(void* subject, std::uint64_t kept) {
  auto& self = *static_cast<sim_pool*>(subject);
  self.hand_over(*self.thread_contexts()[kept >> 32], self.take_ready(kept), origin::elsewhere);
  self.wake_worker();
}

void sim_pool::spent_event(void* subject, std::uint64_t kept) {
  auto& self = *static_cast<sim_pool*>(subject);
  thread_context& thread = *self.thread_contexts()[kept >> 32];
  const acting_scope actor(thread);
  thread.reader().online();
  self.begin_measured();
  self.guarded(thread, [&] { self.take_ready(kept).run(thread); });
  self.end_measured(true);
  thread.reader().offline();
}

/// Schedules the event that wakes a worker when the poll loop is due. Busy workers poll between their items.
void sim_pool::schedule_wakeup() {
  const auto due = link_.duties().due();
  if (due >= wakeup_at_) return;
  wakeup_at_ = std::max(due, machine_.event_time());
  machine_.at(wakeup_at_, &wakeup_event, this, static_cast<std::uint64_t>(wakeup_at_.count()));
}

void sim_pool::wakeup_event(void* subject, std::uint64_t instant) {
  auto& self = *static_cast<sim_pool*>(subject);
  if (self.stopped_ || static_cast<std::uint64_t>(self.wakeup_at_.count()) != instant)
    return;  // an earlier event has replaced this one
  self.wakeup_at_ = std::chrono::nanoseconds::max();
  self.wake_poller();
}

bool sim_pool::look_again(const thread_context& thread) {
  if (thread.role() != thread_role::application || !in_application_) return false;
  const bool again = machine_.now() == looked_at_;
  if (again) {
    application().flush();  // main may wait for the reply to one of these messages
    machine_.spend(repeated_look);
    application_free_at_ = machine_.now();
    wake_application(application());
    suspend_application();
  }
  looked_at_ = machine_.now();
  return again;
}

bool sim_pool::has_nothing() const noexcept {
  if (resuming_ || ready_items() != 0 || not_yet_ready_.size() != free_slots_.size()) return false;
  return std::none_of(thread_contexts().begin(), thread_contexts().end(),
                      [](const auto& each) { return each->collects(); });
}

void sim_pool::resume_event(void* subject, std::uint64_t) { static_cast<sim_pool*>(subject)->resume_application(); }

void sim_pool::resume_application() {
  resuming_ = false;
  if (application_ended()) return;
  machine_.trace(link_.rank().value(), ~std::uint64_t{0});
  in_application_ = true;
  const acting_scope actor(application());
  begin_measured();
  application_fiber_->resume();
  end_measured(true);
  in_application_ = false;
  application_free_at_ = machine_.now();
}

void sim_pool::wait_until(const std::function<bool()>& ready) {
  application().flush();
  detail::open_phase* const paused = pause_main(application());
  wake_poller();  // it looks whether the rank is at rest now
  while (!ready()) suspend_application();
  continue_main(application(), paused);
}

void sim_pool::suspend_application() {
  charge_measured();  // of the event that has resumed main, so before that ends
  application_fiber_->suspend();
}

void sim_pool::wake_workers() {
  for (std::uint32_t index = 0; index < workers(); ++index) schedule(index, machine_.now());
}

void sim_pool::wake_application(thread_context&) {
  if (resuming_) return;
  resuming_ = true;
  machine_.at(std::max(machine_.now(), application_free_at_), &resume_event, this, 0);
}

void sim_pool::charge(thread_context&, double seconds) {
  if (seconds > charge_max) tell_of_cut_charge(link_.rank(), seconds);
  charge_measured();
  machine_.spend(std::chrono::nanoseconds(static_cast<std::int64_t>(bounded_charge(seconds) * 1e9)));
}

void sim_pool::begin_measured() noexcept {
  if (!costs_.measured()) return;
  is_measured_ = true;
  measured_from_ = processor_time();
}

/// `is_found`: the step has found work; a look in vain costs nothing.
void sim_pool::end_measured(bool is_found) {
  if (is_found) charge_measured();
  is_measured_ = false;
}

/// Spends what the running code has taken of this processor since it began or this was called last.
void sim_pool::charge_measured() {
  if (!is_measured_) return;
  machine_.spend(std::chrono::nanoseconds(measured_cost(measured_from_, clock_cost_, 1)));
  measured_from_ = processor_time();
}

void sim_pool::spend_own(own_work item, std::uint64_t count) {
  if (costs_.measured()) {
    charge_measured();
    if (item != own_work::handler) return;
  }
  constexpr std::uint64_t ps_per_ns = 1000;
  const std::uint64_t ps = owed_ps_ + costs_.picoseconds(item) * count;
  owed_ps_ = ps % ps_per_ns;
  machine_.spend(std::chrono::nanoseconds(static_cast<std::int64_t>(ps / ps_per_ns)));
}

}  // namespace nacre
