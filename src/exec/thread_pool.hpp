// SPDX-License-Identifier: Apache-2.0
// A worker pool of real threads that spin a little, then sleep, and wake each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "exec/bounded_charge.hpp"
#include "exec/placement.hpp"
#include "exec/worker_pool.hpp"

namespace nacre {

/// Where the poll loop runs.
enum class progress_mode : std::uint8_t {
  shared,    ///< the workers poll, one at a time
  dedicated  ///< a thread of its own
};

/// Threads. Each worker has a thread, except worker 0: the application's thread runs its slot while the application
/// waits. While the application computes, the substitute worker, a thread of its own, takes the slot within about a
/// millisecond, so that the rank stays responsive. It gives the slot back after the item that it runs. However long
/// that item is, the application goes on within about a millisecond after its condition becomes true.
///
/// | thread | sleeps in | at most | woken by |
/// |---|---|---|---|
/// | watcher: the sleeping worker that has set watched_ | the transport | sleep_max, next timer | message, link_.wake |
/// | any other sleeping worker | its own parker | sleep_max | wake_one |
/// | application, without the slot | application_parker_ | 1 ms | the substitute, when it leaves the slot |
/// | application, in the slot | as a sleeping worker | as above | wake_application, also as above |
/// | substitute, in the slot while main computes | as a sleeping worker | as above | take_worker_slot, also as above |
/// | substitute, application has waited for < 16 ms | substitute_parker_ | 1 ms | stop |
/// | substitute, application waits longer | substitute_parker_ | no limit | the end of wait_until; stop |
/// | fallback poller, no worker idle | fallback_parker_ | 1 to 4 times patience | stop |
/// | fallback poller, some worker idle | fallback_parker_ | sleep_max | on_found of the last idle worker; stop |
/// | dedicated poll loop | the transport | sleep_max, next timer | message, link_.wake |
///
/// wake_one unparks one sleeping worker and wakes the thread that sleeps in the transport, if there is one. The callers
/// are a thread that makes work ready, a worker that finds work, wake_workers and stop. link_.wake is also called by a
/// thread that puts a message into an outbox, and by the last worker to become idle, because only poll hooks see that
/// the rank has come to rest.
///
/// Sleeping. Invariant: while work waits that an idle worker could run, a worker is awake or is being woken. A worker
/// without work spins for `spin`, announces itself in sleepers_, looks once more, and only then sleeps. A producer
/// pushes first and reads sleepers_ second. The application and the poll loop read it by a read-modify-write, so either
/// the producer sees the sleeper or the sleeper sees the work. A worker that produces reads it plainly: it is awake
/// itself, and reads it again whenever it takes an item while more wait. A worker that only a timer has woken, and that
/// finds no work, goes back to sleep at once; it does not spin.
///
/// A scheduler of the program's own may keep an item for certain workers, which nobody but it knows. So a worker that
/// was woken, and for which it has nothing though items wait, wakes the next sleeper after it, and so on to the last
/// one. Those that are awake meanwhile look before they sleep.
///
/// Timers. A thread that sets a timer publishes the time of the earliest first and reads `watched_` second; a thread
/// that is about to sleep in the transport sets `watched_` first and reads that time second. So the sleep ends in time,
/// or the thread is woken. These four accesses are sequentially consistent.
///
/// Watching. Invariant: while workers share the poll loop and one of them sleeps, one watches the transport or an awake
/// worker polls it. When the last worker that polls finds work and no worker watches, it wakes a sleeper, which polls
/// and becomes the watcher. A worker that finds work in its last look first takes back its announcement; if it was
/// woken meanwhile, it wakes another one. So no producer counts on a sleeper that already has work.
///
/// Fallback polling. While all workers that share the poll loop run long items, none of them polls, and requests of
/// other ranks wait. The fallback poller polls when no worker has for `patience`. It does nothing while a worker is
/// idle, because that worker polls, or a message wakes it.
class thread_pool final : public worker_pool {
 public:
  struct options {
    progress_mode progress = progress_mode::shared;
    std::chrono::nanoseconds spin{20'000};
    /// A worker that is woken soon after falling asleep doubles its spin time, up to this limit, in which some wake-ups
    /// fit.
    std::chrono::nanoseconds woken_spin_max{160'000};
    bool crowded = false;  ///< more threads than cores: yield instead of spinning
    /// The fallback poller polls when no worker has for so long; 0: there is no fallback poller.
    std::chrono::nanoseconds patience{0};
    std::chrono::nanoseconds sleep_max{std::chrono::milliseconds(100)};  ///< bounds the cost of a missed hint
    placement place = {};  ///< threads that are not in it run where the caller of `start` does
  };
  thread_pool(const settings& settings, const options& tuning, backplane& link, scheduler& order);
  ~thread_pool() override;

  /// Starts the threads. The calling thread is the application's from here on. Throws setup_error, with no thread left,
  /// when the system starts no more.
  void start();
  /// Ends the threads after the items that they run. Ready work that is left stays where it is.
  void stop();

  void make_ready(thread_context& thread, work& item, origin origin = origin::elsewhere) override;
  void wait_until(const std::function<bool()>& ready) override;
  void wake_application(thread_context& thread) override;
  void wake_workers() override;
  [[nodiscard]] std::uint64_t instant() const noexcept override { return ticks(); }
  [[nodiscard]] double seconds_a_tick() const noexcept override { return seconds_a_tick_; }
  void charge(thread_context& thread, double seconds) override { thread.charged += bounded_charge(seconds); }

 private:
  static constexpr std::uint32_t polls_per_thorough_poll = 8;  // while nothing moves; see backplane::progress

  /// The state of a worker that finds no work and is not woken for any. Only timers and messages end its sleeps, and
  /// most bring no work. So it spins before the first sleep, and not before the later ones. Where threads share cores
  /// and other workers of the rank are busy, the watcher lets timers be late, a little more each time: a busy worker
  /// runs them between two items.
  struct idleness {
    std::uint64_t spin_ticks;       // for how long
    std::uint64_t slept_ticks = 0;  // since something was found
    bool spins = true;
    std::chrono::nanoseconds timers_late{0};
  };
  enum class gate : std::uint8_t { shut, open, given_up };
  template <class Body>
  void add_thread(std::string_view name, std::uint32_t index, const Body& body);
  void open_gate(gate gate);
  void work_as(thread_context& thread);
  void run_substitute_worker();
  void poll_alone();  // these two in thread_pool_progress.cpp
  void run_fallback_poller();
  bool take_worker_slot(const std::function<bool()>& ready);
  template <class Until>
  void serve(thread_context& thread, Until until);
  template <class Until>
  bool rest(thread_context& thread, Until until, idleness& idleness);
  [[nodiscard]] std::uint64_t spin_after(const idleness& idleness) const noexcept;
  template <class Until>
  bool sleep(thread_context& thread, Until until, idleness& idleness);
  void watch(idleness& idleness);
  bool advance(thread_context& thread, bool thorough = true);
  void announce(thread_context& thread) noexcept;
  bool withdraw(thread_context& thread) noexcept;
  void wake_one(std::uint32_t first = 0) noexcept;
  void pass_on(thread_context& thread);
  void on_found(thread_context& thread) noexcept override;
  void on_earlier_timer() override;

  options tuning_;
  double seconds_a_tick_;
  std::uint64_t spin_ticks_;
  std::uint64_t spin_ticks_max_;  // of a worker that was woken soon
  std::vector<std::thread> threads_;
  std::atomic<gate> gate_{gate::shut};  // where threads wait until all are there
  std::atomic<bool> stopping_{false};

  alignas(cache_line_bytes) std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> watched_{false};  // a thread sleeps in the transport

  std::mutex worker_slot_;                      // held by the thread that runs worker 0
  std::atomic<bool> application_waits_{false};  // the application wants, or has, the slot of worker 0
  std::atomic<bool> substitute_asleep_{false};  // sleeps without a time limit
  parker substitute_parker_;
  parker application_parker_;  // while the application waits for the slot

  std::atomic<bool> fallback_asleep_{false};  // until no worker is idle: a hint
  parker fallback_parker_;
};

}  // namespace nacre
