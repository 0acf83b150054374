// SPDX-License-Identifier: Apache-2.0
// The execution component of a rank: its thread contexts, one step of each, and how they are woken.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nacre/scheduler.hpp>

#include "backplane/backplane.hpp"
#include "base/exception_text.hpp"
#include "exec/thread_context.hpp"
#include "machine/runtime_cost_table.hpp"

namespace nacre {

/// The thread contexts of one rank. `thread_pool` gives each a thread; `sim_pool` steps them in virtual time. Both run
/// `step`.
class worker_pool {
 public:
  struct settings {
    std::uint32_t workers = 1;
    std::uint64_t seed = 1;
    std::uint64_t backlog_bytes = 256u << 20;  ///< of ready work, above which workers run the newest item first
    std::uint32_t communication_threads = 0;   ///< where time is simulated: threads that poll in place of the workers
    /// The scheduler may keep items for certain workers: when one that was woken gets none, all others look.
    bool selective = false;
  };
  worker_pool(const settings& settings, backplane& link, scheduler& order);
  virtual ~worker_pool();

  [[nodiscard]] std::uint32_t workers() const noexcept { return workers_; }
  [[nodiscard]] thread_context& worker(std::uint32_t index) noexcept { return *thread_contexts_[index]; }
  [[nodiscard]] thread_context& application() noexcept { return *thread_contexts_[workers_]; }
  [[nodiscard]] thread_context& progress_thread() noexcept { return *thread_contexts_[workers_ + 1]; }
  /// All thread contexts: workers first, then the application's, then the poll loop's.
  [[nodiscard]] const std::vector<std::unique_ptr<thread_context>>& thread_contexts() const noexcept {
    return thread_contexts_;
  }
  [[nodiscard]] epoch_domain& readers() noexcept { return readers_; }

  enum class origin : std::uint8_t {
    elsewhere,  ///< sent by main, arrived from another rank, or work that ends something
    handler,    ///< a handler of this rank has sent it, and it need not run while the rank cannot send
    birth,      ///< as `handler`, and it is the first message to an object that has been made on this rank
    resumption  ///< a coroutine goes on because of what a handler of this rank has done
  };
  /// The origin of work that `thread` makes ready: `of_handlers` while an item runs there, for then a handler makes it.
  [[nodiscard]] static origin made_on(const thread_context& thread, origin of_handlers = origin::handler) noexcept {
    return thread.in_item() ? of_handlers : origin::elsewhere;
  }
  /// Hands ready work to the scheduler and wakes an idle worker when one could help. Any thread context of this rank.
  virtual void make_ready(thread_context& thread, work& item, origin work_origin = origin::elsewhere) = 0;
  /// Runs `item` once the simulated time that the running code has spent is over. `item` is short: it only passes on
  /// something that this code holds. Where time is not simulated it is make_ready. `thread`: the running thread
  /// context.
  virtual void when_spent(thread_context& thread, work& item) { make_ready(thread, item); }

  /// The application waits until `ready` returns true, while its thread runs other work. Every change that makes it
  /// true must be followed by `wake_application`.
  virtual void wait_until(const std::function<bool()>& ready) = 0;
  virtual void wake_application(thread_context& thread) = 0;
  /// Every sleeping worker looks for work again, because the rank's backpressure has ended. Inside the poll loop.
  virtual void wake_workers() = 0;

  /// Sets a one-shot timer of a handler or main, and sees that the poll loop comes in time. Any thread context. When it
  /// throws, for want of memory, nothing has changed.
  void set_timer(timer& added, std::chrono::nanoseconds due) {
    if (link_.duties().timers().set(added, due)) on_earlier_timer();
  }
  [[nodiscard]] poll_duties& duties() noexcept { return link_.duties(); }
  /// Takes a timer back; see timer_queue.
  bool remove_timer(timer& gone) noexcept { return link_.duties().timers().remove(gone); }
  /// The present plus so many seconds, on the rank's clock; nanoseconds::max() when that is too far away for it.
  [[nodiscard]] std::chrono::nanoseconds instant_after(double seconds) const;

  /// The present time, in ticks: the processor's, or virtual nanoseconds.
  [[nodiscard]] virtual std::uint64_t instant() const noexcept = 0;
  [[nodiscard]] virtual double seconds_a_tick() const noexcept = 0;
  /// True when the running code is ahead, in simulated time, of the other workers of this rank (of all of them, if main
  /// runs). Objects that the code holds must stay held until then; work that it makes ready now can run from then on.
  /// Never on threads.
  [[nodiscard]] virtual bool ahead() const noexcept { return false; }
  /// True when the running code has spent simulated time: its worker is busy until that time is over.
  [[nodiscard]] virtual bool spending() const noexcept { return false; }
  /// Code on `on` looks at the time, or at something that is not there yet. When main under simulation looks twice at
  /// one instant, virtual time advances, so that a polling loop ends. True: time has advanced, and others have run.
  [[nodiscard]] virtual bool look_again(const thread_context& /*on*/) { return false; }
  /// The running handler on `thread` declares that it has worked for so many seconds.
  virtual void charge(thread_context& thread, double seconds) = 0;
  /// Charges simulated time for so much of the runtime's own work, before the running code goes on. On threads, where
  /// work takes real time, this is one branch.
  void charge_own(own_work item, std::uint64_t count = 1) {
    if (charges_own_) [[unlikely]]
      spend_own(item, count);
  }
  /// Whether a worker has found more ready work than the bound, so that the newest goes first. A hint. Any thread.
  [[nodiscard]] bool backlogged() const noexcept {
    return backlogged_workers_.load(std::memory_order_relaxed) != 0;  // a hint
  }
  /// Whether charge_own makes a difference.
  [[nodiscard]] bool charges_own() const noexcept { return charges_own_; }

  /// Workers that look for work at this moment. A hint, but exact once the rank has come to rest.
  [[nodiscard]] std::uint32_t idle_workers() const noexcept {
    return idle_workers_.load(std::memory_order_acquire);  // pairs with the changes in enter_idle and leave_idle
  }
  /// Ready work that no worker has taken yet, stale items included. An estimate, exact once the rank has come to rest;
  /// it reads counters of every thread context.
  [[nodiscard]] std::size_t ready_items() const noexcept;
  [[nodiscard]] scheduler& order() noexcept { return order_; }
  /// True when other workers of this rank look for work and `thread` has none ready to give.
  [[nodiscard]] bool hungry_beside(const thread_context& thread) const noexcept {
    return idle_workers_.load(std::memory_order_relaxed) != 0 && order_.waiting(thread.id()) == 0;  // a hint
  }

 protected:
  /// Runs one item of ready work, or polls. False when there was nothing to do. Does not poll after an item that has
  /// spent simulated time, because other workers act during that time.
  bool step(thread_context& thread, bool thorough = true);
  /// Runs one item of ready work, if there is one.
  bool take_item(thread_context& thread);
  /// Polls between two items.
  void poll(thread_context& thread);
  void run_item(thread_context& thread, work& item);
  /// Counts ready work and hands it to the scheduler.
  void push(thread_context& thread, work& item, origin work_origin) {
    thread.counters_.readied.add(1);
    hand_over(thread, item, work_origin);
  }
  /// Hands work that has been counted to the scheduler. An exception of the scheduler ends the job here; the code that
  /// has made the work does not get it.
  void hand_over(thread_context& thread, work& item, origin work_origin) {
    guarded(thread, [&] {
      call_named(scheduler_name, [&] {
        switch (work_origin) {
          case origin::elsewhere:
            return order_.push(thread.id_, item);
          case origin::handler:
            return order_.push_made(thread.id_, item);
          case origin::birth:
            return order_.push_first(thread.id_, item);
          case origin::resumption:
            return order_.push_resumed(thread.id_, item);
        }
      });
    });
  }
  [[nodiscard]] static std::string scheduler_name() { return "the scheduler"; }
  /// Runs `action`; an exception that it throws ends the job. Costs nothing while nothing is thrown.
  template <class Action>
  void guarded(thread_context& thread, Action&& action) {
    try {
      action();
    } catch (...) {
      link_.sink().escaped(thread);
    }
  }
  /// A timer has been set that is due before all others.
  virtual void on_earlier_timer() = 0;
  void enter_idle(thread_context& thread) noexcept;
  void leave_idle(thread_context& thread) noexcept;
  /// `thread` was idle and has found work: until that is done it will look neither for more work nor for messages.
  virtual void on_found(thread_context& thread) noexcept { static_cast<void>(thread); }
  /// See charge_own.
  virtual void spend_own(own_work item, std::uint64_t count) {
    static_cast<void>(item);
    static_cast<void>(count);
  }

  backplane& link_;
  scheduler& order_;
  std::uint64_t poll_bound_;      // ticks between two polls of a busy worker
  std::uint64_t short_item_ = 0;  // ticks; shorter items may be timed together
  bool charges_own_ = false;
  const bool selective_;  // see settings
  std::atomic<std::uint32_t> idle_workers_{0};
  std::atomic<std::uint32_t> backlogged_workers_{0};

 private:
  bool run_next(thread_context& thread);
  void update_pressure(thread_context& thread);
  void read_clock(thread_context& thread);
  void note_steals(thread_context& thread);

  std::uint32_t workers_;
  double backlog_bytes_;  // of each worker
  epoch_domain readers_;
  std::vector<std::unique_ptr<thread_context>> thread_contexts_;
};

}  // namespace nacre
