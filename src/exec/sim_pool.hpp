// SPDX-License-Identifier: Apache-2.0
// A worker pool of simulated threads: the event loop takes their steps in virtual time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exec/fiber.hpp"
#include "exec/worker_pool.hpp"
#include "machine/simulation.hpp"

namespace nacre {

/// One simulated rank. Every worker is a sequence of events "take a step". The application is a fiber that is resumed
/// when its condition may have become true.
///
/// Invariant: no effect comes before its cause, and the events of one worker never overlap. An event runs code at once
/// and spends the time that the code charges. Each effect of the code takes place at the time that had been spent by
/// then: a message leaves then, and other workers can take work that it makes ready from then on.
///
/// | worker or communication thread | step found work | found nothing | woken |
/// |---|---|---|---|
/// | scheduled | scheduled at its end | asleep | - |
/// | asleep | - | - | scheduled now |
///
/// Without communication threads the workers take turns at polling. With such, these alone poll, each for one message
/// at a time, and a worker that falls asleep wakes one, so that it sees whether the rank is at rest. They share the
/// thread context of the poll loop: an event runs one of them at a time.
class sim_pool final : public worker_pool {
 public:
  sim_pool(const settings& settings, const machine::runtime_costs& costs, backplane& link, scheduler& order,
           machine::simulation& machine);

  /// Prepares the application's fiber; the event loop does the rest.
  void start(std::function<void()> application);
  [[nodiscard]] bool application_ended() const noexcept { return !application_fiber_ || application_fiber_->ended(); }
  /// Whether nothing is ready, nothing will be when the spent time is over, and no thread context has anything left to
  /// send. Steps of workers may still be scheduled; they find nothing.
  [[nodiscard]] bool has_nothing() const noexcept;
  /// No more steps after this.
  void stop() noexcept { stopped_ = true; }
  /// A message has arrived for this rank.
  void on_arrival();

  void make_ready(thread_context& thread, work& item, origin origin = origin::elsewhere) override;
  void when_spent(thread_context& thread, work& item) override;
  void wait_until(const std::function<bool()>& ready) override;
  void wake_application(thread_context& thread) override;
  void wake_workers() override;
  [[nodiscard]] std::uint64_t instant() const noexcept override {
    return static_cast<std::uint64_t>(machine_.now().count());
  }
  [[nodiscard]] double seconds_a_tick() const noexcept override { return 1e-9; }
  [[nodiscard]] bool ahead() const noexcept override {
    // Nothing lags behind a lone worker, but the worker may lag behind main, and main may hold an object.
    return (workers() > 1 || has_communicators() || in_application_) && spending();
  }
  [[nodiscard]] bool spending() const noexcept override { return machine_.now() != machine_.event_time(); }
  [[nodiscard]] bool look_again(const thread_context& thread) override;
  void charge(thread_context& thread, double seconds) override;

 private:
  void spend_own(own_work item, std::uint64_t count) override;
  void on_earlier_timer() override { schedule_wakeup(); }
  struct simulated_thread {
    bool scheduled = false;
    bool passed_on = false;               // another worker has left this step to it
    bool owes_poll = false;               // polls, when due, after the time of its last item is over
    std::chrono::nanoseconds free_at{0};  // end of its last step
  };
  static void step_event(void* subject, std::uint64_t index);
  static void ready_event(void* subject, std::uint64_t index);
  static void spent_event(void* subject, std::uint64_t index);
  static void resume_event(void* subject, std::uint64_t);
  static void wakeup_event(void* subject, std::uint64_t instant);
  [[nodiscard]] std::uint64_t keep_until_ready(const thread_context& thread, work& item);
  [[nodiscard]] work& take_ready(std::uint64_t kept);
  void take_step(std::uint32_t index);
  [[nodiscard]] bool work_or_poll(thread_context& thread, bool owes_poll);
  [[nodiscard]] bool communicate(thread_context& thread);
  void wake_worker();
  void wake_poller();
  void pass_on(std::uint32_t index);
  [[nodiscard]] bool has_communicators() const noexcept { return simulated_.size() > workers(); }
  void schedule_wakeup();
  void schedule(std::uint32_t index, std::chrono::nanoseconds time);
  void resume_application();
  void suspend_application();
  void begin_measured() noexcept;
  void end_measured(bool is_found);
  void charge_measured();

  machine::runtime_costs costs_;
  const std::chrono::nanoseconds clock_cost_;  // of looking at the processor's time; 0 where nothing is measured
  std::chrono::nanoseconds measured_from_{0};  // of the processor's time
  bool is_measured_ = false;                   // code of this rank runs, and what it takes is charged
  std::uint64_t owed_ps_ = 0;                  // of the runtime's own work, less than a nanosecond: spent with the next
  machine::simulation& machine_;
  std::vector<simulated_thread> simulated_;  // workers, then communication threads
  std::vector<work*> not_yet_ready_;         // made ready by code that had already spent time
  std::vector<std::uint32_t> free_slots_;    // of not_yet_ready_
  std::chrono::nanoseconds wakeup_at_ = std::chrono::nanoseconds::max();  // when a worker is to be woken; max: never
  std::optional<fiber> application_fiber_;
  std::chrono::nanoseconds application_free_at_{0};
  std::chrono::nanoseconds looked_at_{-1};  // when main last looked
  bool resuming_ = false;
  bool in_application_ = false;
  bool in_step_ = false;         // of a lone worker
  bool pushed_in_step_ = false;  // work, by that step
  bool stopped_ = false;
};

}  // namespace nacre
