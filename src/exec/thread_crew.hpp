// SPDX-License-Identifier: Apache-2.0
// A crew of real threads that spin a little, then sleep, and wake each other.
#pragma once

#include <mutex>
#include <string_view>
#include <thread>

#include "exec/crew.hpp"

namespace nacre {

/// Where the poll loop runs.
enum class progress_mode : std::uint8_t {
  shared,    ///< workers take turns
  dedicated  ///< a thread of its own
};

/// Threads: one a worker, except that worker 0 is played by the application's thread while that waits. When the
/// application computes instead, a stand-in thread takes the seat of worker 0 within about a millisecond, so that the
/// rank stays responsive; it gives the seat back after the item that it runs. However long that item is, the
/// application goes on within about a millisecond once what it waits for is there.
///
/// Sleeping: a worker without work spins for `spin`, then announces itself in sleepers_, looks once more, and sleeps:
/// one of them, the watcher, in the transport, the others on their parkers. Whom only a timer has woken, in vain,
/// sleeps on without spinning. Who makes work ready reads sleepers_ after its push. The application and the poll loop
/// read it by a read-modify-write, so that either they see the sleeper, or it sees the work. A worker reads it plainly:
/// it is awake itself, and looks again whenever it takes an item while more wait.
///
/// Watching: while workers share the poll loop and one of them sleeps, somebody watches the transport, or an awake
/// worker looks. So the last worker that looked, when it finds work, wakes a sleeper unless one watches; that one
/// looks, and becomes the watcher. Who finds work in its last look takes its announcement back first, and hands on a
/// wake-up that it got meanwhile, so that nobody counts on a sleeper that works.
///
/// Relief: while all workers that share the poll loop run long items, nobody looks, and requests of other ranks wait.
/// So a thread of the rank looks now and then whether anybody has, and takes a turn itself if not. It leaves a rank
/// alone one of whose workers has nothing to do, as that one looks, or is woken by what comes.
class thread_crew final : public crew {
 public:
  struct options {
    progress_mode progress = progress_mode::shared;
    std::chrono::nanoseconds spin{20'000};
    /// Who was woken soon after it fell asleep spins twice as long the next time, up to this: some wake-ups.
    std::chrono::nanoseconds woken_spin_max{160'000};
    bool crowded = false;  ///< more threads than cores: yield instead of spinning
    /// Relief comes when none of the workers in turns has looked for so long; 0: never.
    std::chrono::nanoseconds patience{0};
  };
  thread_crew(const settings& how, const options& tuning, backplane& link, scheduler& order);
  ~thread_crew() override;

  /// Starts the threads. The calling thread is the application's from here on. Throws setup_error, with no thread left,
  /// when the system starts no more.
  void start();
  /// Ends the threads after the items that they run. Ready work that is left stays where it is.
  void stop();

  void make_ready(lane& by, work& item, origin from = origin::elsewhere) override;
  void wait_until(const std::function<bool()>& ready) override;
  void wake_application(lane& by) override;
  void wake_workers() override;
  [[nodiscard]] std::uint64_t instant() const noexcept override { return ticks(); }
  [[nodiscard]] double seconds_a_tick() const noexcept override { return seconds_a_tick_; }
  void charge(lane& on, double seconds) override { on.charged += seconds; }

 private:
  static constexpr std::chrono::milliseconds sleep_max{100};    // a bound on what a missed hint can cost
  static constexpr std::uint32_t looks_for_a_thorough_one = 8;  // while nothing moves; see backplane::progress

  /// What a worker knows while it finds nothing to do and nobody wakes it for work: then only timers, and calls to the
  /// transport, end its sleeps, most of them in vain. So it spins before the first sleep alone. Where threads have to
  /// share cores and others of the rank work, the watcher lets timers be late, a little more each time: who works
  /// sees to them between two items.
  struct idleness {
    std::uint64_t spin_ticks;       // for how long
    std::uint64_t slept_ticks = 0;  // since something was found
    bool spins = true;
    std::chrono::nanoseconds timers_late{0};
  };
  enum class gate : std::uint8_t { shut, open, given_up };
  template <class Body>
  void add_thread(std::string_view what, std::uint32_t index, const Body& body);
  void open_gate(gate how);
  void work_as(lane& on);
  void stand_in();
  void poll_alone();  // these two in thread_crew_progress.cpp
  void relieve();
  bool take_seat(const std::function<bool()>& ready);
  template <class Until>
  void serve(lane& on, Until until);
  template <class Until>
  bool rest(lane& on, Until until, idleness& how);
  [[nodiscard]] std::uint64_t spin_after(const idleness& how) const noexcept;
  template <class Until>
  bool sleep(lane& on, Until until, idleness& how);
  void watch(idleness& how);
  bool advance(lane& on, bool thorough = true);
  void announce(lane& on) noexcept;
  bool withdraw(lane& on) noexcept;
  void wake_one() noexcept;
  void on_found(lane& on) noexcept override;

  options tuning_;
  double seconds_a_tick_;
  std::uint64_t spin_ticks_;
  std::uint64_t spin_ticks_max_;  // of who was woken soon
  std::vector<std::thread> threads_;
  std::atomic<gate> gate_{gate::shut};  // where threads wait until all are there
  std::atomic<bool> stopping_{false};

  alignas(cache_line_bytes) std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> watched_{false};  // somebody sleeps in the transport

  std::mutex seat_;                             // of worker 0
  std::atomic<bool> application_waits_{false};  // the application wants, or has, the seat
  std::atomic<bool> stand_in_asleep_{false};    // sleeps without a time limit
  parker stand_in_parker_;
  parker application_parker_;  // where it waits for the seat

  std::atomic<bool> relief_asleep_{false};  // until no worker is idle: a hint
  parker relief_parker_;
};

}  // namespace nacre
