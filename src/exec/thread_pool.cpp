// SPDX-License-Identifier: Apache-2.0
// Threads of a rank: working, resting, waking.
#include "exec/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "base/slab_pool.hpp"
#include "base/spin.hpp"
#include "exec/main_pause.hpp"
#include "exec/own_thread.hpp"
#include "exec/signal_stack.hpp"
#include "exec/thread_binding.hpp"
#include "exec/thread_shortage.hpp"

namespace nacre {
namespace {

constexpr std::chrono::nanoseconds late_min{5'000};  // of timers; see thread_pool::idleness
constexpr std::chrono::nanoseconds late_max{500'000};
constexpr std::chrono::milliseconds substitute_period{1};
constexpr int substitute_periods_max = 16;  // periods that the application waits before the substitute sleeps for good
constexpr double poll_bound_seconds = 10e-6;
constexpr double short_item_seconds = 250e-9;
constexpr std::uint32_t polls_per_pause = 64;
constexpr std::uint32_t pauses_max = 16;

void label(rank_id rank, std::string_view role, std::uint32_t index) {
  set_thread_label("rank " + std::to_string(rank.value()) + ' ' + std::string(role) + ' ' + std::to_string(index));
}

}  // namespace

thread_pool::thread_pool(const settings& settings, const options& tuning, backplane& link, scheduler& order)
    : worker_pool(settings, link, order), tuning_(tuning), seconds_a_tick_(1.0 / ticks_per_second()) {
  const auto in_ticks = [this](std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(static_cast<double>(time.count()) * 1e-9 / seconds_a_tick_);
  };
  spin_ticks_ = in_ticks(tuning.spin);
  spin_ticks_max_ = std::max(spin_ticks_, in_ticks(tuning.woken_spin_max));
  poll_bound_ = static_cast<std::uint64_t>(poll_bound_seconds / seconds_a_tick_);
  short_item_ = static_cast<std::uint64_t>(short_item_seconds / seconds_a_tick_);
}

thread_pool::~thread_pool() { stop(); }

/// Each thread waits at the gate until all have started: a thread that runs may need memory, which is short where
/// another thread cannot start.
template <class Body>
void thread_pool::add_thread(std::string_view name, std::uint32_t index, const Body& body) {
  threads_.emplace_back([this, name, index, body] {
    gate_.wait(gate::shut);
    if (gate_ == gate::given_up) return;
    label(link_.rank(), name, index);
    const own_thread mark(this);
    const signal_stack stack;
    guarded(progress_thread(), body);
  });
}

void thread_pool::open_gate(gate gate) {
  gate_ = gate;
  gate_.notify_all();
}

void thread_pool::start() {
  label(link_.rank(), "application", 0);
  const bool polls = tuning_.progress == progress_mode::dedicated;
  const bool has_fallback_poller = !polls && tuning_.patience > std::chrono::nanoseconds::zero();
  const std::uint32_t wanted = workers() + (polls || has_fallback_poller ? 1 : 0);
  try {
    for (std::uint32_t index = 1; index < workers(); ++index) {
      add_thread("worker", index, [this, index] {
        if (index < tuning_.place.workers.size()) bind_this_thread(tuning_.place.workers[index]);
        work_as(worker(index));
      });
    }
    add_thread("worker", 0, [this] { run_substitute_worker(); });
    if (polls)
      add_thread("poll loop", 0, [this] {
        bind_this_thread(tuning_.place.poll_thread);
        poll_alone();
      });
    if (has_fallback_poller) add_thread("fallback poller", 0, [this] { run_fallback_poller(); });
  } catch (const std::exception& error) {
    const std::size_t started = threads_.size();
    open_gate(gate::given_up);
    for (std::thread& each : threads_) each.join();
    threads_.clear();
    throw thread_shortage(started, wanted, error);
  }
  open_gate(gate::open);
}

void thread_pool::stop() {
  stopping_ = true;
  substitute_parker_.unpark();
  fallback_parker_.unpark();
  link_.wake();             // a dedicated poll loop is not counted in sleepers_
  while (sleepers_ != 0) {  // a worker that goes to sleep later looks at stopping_ after announcing itself
    wake_one();
    sched_yield();
  }
  for (std::thread& each : threads_) each.join();
  threads_.clear();
}

/// One step in this mode: with a dedicated poll loop, workers leave polling to it.
bool thread_pool::advance(thread_context& thread, bool thorough) {
  if (tuning_.progress == progress_mode::shared) return step(thread, thorough);
  if (take_item(thread)) return true;
  enter_idle(thread);
  guarded(thread, [&] { thread.flush(); });
  return false;
}

template <class Until>
void thread_pool::serve(thread_context& thread, Until until) {
  const acting_scope actor(thread);
  thread.reader_.online();
  idleness idleness{.spin_ticks = spin_ticks_};
  while (!until()) {
    if (advance(thread) || rest(thread, until, idleness)) idleness = {.spin_ticks = spin_after(idleness)};
    // A worker that has ready work besides its item looks for sleepers here: see the class comment.
    if (sleepers_.load(std::memory_order_relaxed) != 0 && order_.waiting(thread.id()) > 1) wake_one();
  }
  thread.reader_.offline();
}

/// True when there was something to do, or another thread has woken it as a worker.
template <class Until>
bool thread_pool::rest(thread_context& thread, Until until, idleness& idleness) {
  const std::uint64_t begin = instant();
  bool is_found = false;
  std::uint32_t looks = 0;
  while (idleness.spins && !is_found && !until() && instant() - begin < idleness.spin_ticks) {
    if (tuning_.crowded) {
      sched_yield();
    } else {
      // At first a look is pause enough: a longer pause is latency. Later the worker leaves the cache lines to others.
      for (std::uint32_t i = std::min(looks / polls_per_pause, pauses_max); i > 0; --i) cpu_relax();
    }
    is_found = advance(thread, ++looks % polls_per_thorough_poll == 0);
  }
  idleness.spins = false;
  if (!is_found) {
    const std::uint64_t asleep_at = instant();
    is_found = sleep(thread, until, idleness);
    idleness.slept_ticks += instant() - asleep_at;
  }
  thread.counters_.idle_ticks.add(instant() - begin);
  return is_found;
}

/// How long to spin the next time, now that something has been found. A worker that has slept for a short while only
/// should have spun on, because a wake-up costs both sides more. It should not where threads share cores.
std::uint64_t thread_pool::spin_after(const idleness& idleness) const noexcept {
  if (idleness.slept_ticks == 0) return idleness.spin_ticks;
  const bool soon = idleness.slept_ticks < spin_ticks_max_ && !tuning_.crowded;
  return soon ? std::min(2 * idleness.spin_ticks, spin_ticks_max_) : spin_ticks_;
}

/// Sets everything that a waker reads before the announcement, so that a waker that sees the sleeper can wake it.
void thread_pool::announce(thread_context& thread) noexcept {
  const bool shared = tuning_.progress == progress_mode::shared;
  thread.announced_ = true;
  thread.watches_ = shared && !watched_.exchange(true);
  thread.parked_.store(true, std::memory_order_release);  // pairs with the exchange in wake_one
  sleepers_.fetch_add(1, std::memory_order_acq_rel);      // pairs with the read-modify-writes of the wakers
  // If the watcher has left without seeing this sleeper, this sleeper must watch.
  if (shared && !thread.watches_) thread.watches_ = !watched_.exchange(true);
}

/// Withdraws the announcement. True when another thread has spent a wake-up on it.
bool thread_pool::withdraw(thread_context& thread) noexcept {
  if (!std::exchange(thread.announced_, false)) return false;
  if (std::exchange(thread.watches_, false)) watched_.exchange(false);  // sees the sleepers that found the watch taken
  const bool woken = !thread.parked_.exchange(false);
  sleepers_.fetch_sub(1, std::memory_order_acq_rel);
  return woken;
}

template <class Until>
bool thread_pool::sleep(thread_context& thread, Until until, idleness& idleness) {
  flush_remote_frees();
  announce(thread);
  const bool is_found = until() || advance(thread);
  if (!is_found) {
    thread.reader_.offline();
    // Only poll hooks see that the rank has come to rest, so the last worker to become idle makes the watcher poll.
    if (!thread.watches_ && idle_workers() == workers()) link_.wake();
    if (thread.watches_) {
      watch(idleness);
    } else {
      thread.parker_.park_for(tuning_.sleep_max);
    }
    thread.reader_.online();
  }
  const bool woken = withdraw(thread);
  if (woken && !is_found && selective_) pass_on(thread);
  return woken || is_found;
}

/// See the class comment.
void thread_pool::pass_on(thread_context& thread) {
  if (!take_item(thread) && ready_items() != 0) wake_one(thread.id().value() + 1);
}

void thread_pool::watch(idleness& idleness) {
  if (!tuning_.crowded || idle_workers() == workers()) return link_.wait(tuning_.sleep_max);
  link_.wait(tuning_.sleep_max, idleness.timers_late);
  idleness.timers_late = std::clamp(idleness.timers_late * 2, late_min, late_max);
}

void thread_pool::wake_one(std::uint32_t first) noexcept {
  for (std::uint32_t index = first; index < workers(); ++index) {
    thread_context& each = worker(index);
    if (each.parked_.load(std::memory_order_relaxed) && each.parked_.exchange(false)) {
      each.parker_.unpark();
      if (watched_) link_.wake();
      return;
    }
  }
  if (watched_) link_.wake();
}

void thread_pool::on_found(thread_context& thread) noexcept {
  if (fallback_asleep_.load(std::memory_order_relaxed) && idle_workers() == 0) fallback_parker_.unpark();  // hints
  const bool woken = withdraw(thread);
  const std::uint32_t asleep = sleepers_.load(std::memory_order_acquire);  // pairs with the fetch_add in announce
  if (asleep == 0) return;
  const bool unwatched = tuning_.progress == progress_mode::shared && !watched_ && idle_workers() <= asleep;
  if (woken || unwatched) wake_one();
}

void thread_pool::make_ready(thread_context& thread, work& item, origin origin) {
  push(thread, item, origin);
  if (thread.role() == thread_role::worker) {
    const bool leaves_it = thread.in_item_ || selective_ || order_.waiting(thread.id()) > 1;
    if (sleepers_.load(std::memory_order_relaxed) != 0 && leaves_it) wake_one();
  } else if (sleepers_.fetch_add(0, std::memory_order_acq_rel) != 0) {  // pairs with the fetch_add in announce
    wake_one();
  }
}

void thread_pool::work_as(thread_context& thread) {
  serve(thread, [this] { return stopping_.load(std::memory_order_relaxed); });  // only a flag: no data behind it
}

void thread_pool::run_substitute_worker() {
  int waits = 0;
  while (!stopping_) {
    if (application_waits_) {
      if (++waits < substitute_periods_max) {
        substitute_parker_.park_for(substitute_period);
        continue;
      }
      substitute_asleep_ = true;
      if (application_waits_ && !stopping_) substitute_parker_.park_for(std::chrono::nanoseconds::max());
      substitute_asleep_ = false;
      waits = 0;
      continue;
    }
    substitute_parker_.park_for(substitute_period);
    if (application_waits_ || stopping_ || !worker_slot_.try_lock()) continue;
    serve(worker(0), [this] { return application_waits_.load() || stopping_.load(); });
    worker_slot_.unlock();
    application_parker_.unpark();
  }
}

void thread_pool::wait_until(const std::function<bool()>& ready) {
  application().flush();
  detail::open_phase* const paused = pause_main(application());
  application_waits_ = true;
  if (take_worker_slot(ready)) {
    serve(worker(0), ready);
    worker_slot_.unlock();
  }
  application_waits_ = false;
  continue_main(application(), paused);
  if (substitute_asleep_) substitute_parker_.unpark();
}

/// The application takes the slot of worker 0. False: `ready` says true, while the substitute still runs an item there.
bool thread_pool::take_worker_slot(const std::function<bool()>& ready) {
  if (worker_slot_.try_lock()) return true;
  worker(0).parker_.unpark();
  link_.wake();
  while (!worker_slot_.try_lock()) {
    if (ready()) return false;
    application_parker_.park_for(substitute_period);
  }
  return true;
}

void thread_pool::on_earlier_timer() {
  if (watched_) link_.wake();
}

void thread_pool::wake_workers() {
  // The read-modify-write pairs with the one in announce: this thread sees the sleeper, or it sees no backpressure.
  if (sleepers_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  for (std::uint32_t index = 0; index < workers(); ++index) wake_one();
}

void thread_pool::wake_application(thread_context& thread) {
  static_cast<void>(thread);
  // The read-modify-write pairs with the one in announce: the application sees that it is ready, or is seen asleep.
  if (sleepers_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  worker(0).parker_.unpark();
  link_.wake();
}

}  // namespace nacre
