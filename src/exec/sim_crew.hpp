// SPDX-License-Identifier: Apache-2.0
// A crew of simulated threads: the same steps, taken by the event loop in virtual time.
#pragma once

#include <optional>

#include "exec/crew.hpp"
#include "exec/fiber.hpp"
#include "machine/simulation.hpp"

namespace nacre {

/// One simulated rank. Every worker is a line of events "take a step"; the application is a fiber that is resumed when
/// what it waits for is there.
///
/// Time: an event runs code at once and spends what the code charges; whatever the code causes carries the time that
/// had been spent by then: messages leave then, and work that it makes ready can be taken by others from then on. So no
/// effect comes before its cause, and a lane's events never overlap.
///
/// | lane | step found work | found nothing | woken |
/// |---|---|---|---|
/// | scheduled | scheduled at its end | asleep | - |
/// | asleep | - | - | scheduled now |
class sim_crew final : public crew {
 public:
  sim_crew(const settings& how, const machine::runtime_costs& costs, backplane& link, scheduler& order,
           machine::simulation& machine);

  /// Prepares the application's fiber; the event loop does the rest.
  void start(std::function<void()> application);
  [[nodiscard]] bool application_ended() const noexcept { return !application_fiber_ || application_fiber_->ended(); }
  /// Whether nothing is ready, or will be once the time is over that has been spent, and no lane has anything left to
  /// send. Steps of workers may still be to come; they find nothing.
  [[nodiscard]] bool has_nothing() const noexcept;
  /// No more steps after this.
  void stop() noexcept { stopped_ = true; }
  /// A message has arrived for this rank.
  void on_arrival();

  void make_ready(lane& by, work& item, origin from = origin::elsewhere) override;
  void when_spent(lane& by, work& item) override;
  void wait_until(const std::function<bool()>& ready) override;
  void wake_application(lane& by) override;
  void wake_workers() override;
  [[nodiscard]] std::uint64_t instant() const noexcept override {
    return static_cast<std::uint64_t>(machine_.now().count());
  }
  [[nodiscard]] double seconds_a_tick() const noexcept override { return 1e-9; }
  [[nodiscard]] bool ahead() const noexcept override {
    // A lone worker is nobody's past, but main is a lone worker's: main may hold an object.
    return (workers() > 1 || in_application_) && spending();
  }
  [[nodiscard]] bool spending() const noexcept override { return machine_.now() != machine_.event_time(); }
  [[nodiscard]] bool look_again(const lane& on) override;
  void charge(lane& on, double seconds) override;

 private:
  void spend_own(own_work what, std::uint64_t count) override;
  struct simulated_worker {
    sim_crew* owner;
    bool scheduled = false;
    bool owes_look = false;               // at the poll loop, from when its last item's time is over
    std::chrono::nanoseconds free_at{0};  // end of its last step
  };
  static void step_event(void* subject, std::uint64_t index);
  static void ready_event(void* subject, std::uint64_t index);
  static void spent_event(void* subject, std::uint64_t index);
  static void resume_event(void* subject, std::uint64_t);
  static void alarm_event(void* subject, std::uint64_t when);
  [[nodiscard]] std::uint64_t keep_until_ready(const lane& by, work& item);
  [[nodiscard]] work& take_ready(std::uint64_t kept);
  void take_step(std::uint32_t index);
  void wake_worker();
  void set_alarm();
  void schedule(std::uint32_t index, std::chrono::nanoseconds when);
  void resume_application();

  machine::runtime_costs costs_;
  std::uint64_t owed_ps_ = 0;  // of the runtime's own work, less than a nanosecond: spent with the next
  machine::simulation& machine_;
  std::vector<simulated_worker> simulated_;
  std::vector<work*> not_yet_ready_;       // made ready by code that had already spent time
  std::vector<std::uint32_t> free_slots_;  // of not_yet_ready_
  std::chrono::nanoseconds alarm_at_ = std::chrono::nanoseconds::max();  // of the event that wakes a worker; max: none
  std::optional<fiber> application_fiber_;
  std::chrono::nanoseconds application_free_at_{0};
  std::chrono::nanoseconds looked_at_{-1};  // by main, last
  bool resuming_ = false;
  bool in_application_ = false;
  bool in_step_ = false;         // of a lone worker
  bool pushed_in_step_ = false;  // work, by that step
  bool stopped_ = false;
};

}  // namespace nacre
