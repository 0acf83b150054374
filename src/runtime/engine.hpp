// SPDX-License-Identifier: Apache-2.0
// One rank: owns its modules, connects them, starts and stops them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <nacre/config.hpp>
#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "am/collectives_module.hpp"
#include "am/container_module.hpp"
#include "am/extension_module.hpp"
#include "am/flow_module.hpp"
#include "am/group_table.hpp"
#include "am/memory_module.hpp"
#include "am/unreliable_module.hpp"
#include "backplane/backplane.hpp"
#include "balance/balancing.hpp"
#include "base/forked_child.hpp"
#include "exec/own_thread.hpp"
#include "exec/pools_of_process.hpp"
#include "exec/signal_stack.hpp"
#include "exec/sim_pool.hpp"
#include "exec/thread_pool.hpp"
#include "machine/simulation.hpp"
#include "mobile/object_space.hpp"
#include "quiescence/quiescence_module.hpp"
#include "runtime/checkpoints.hpp"
#include "runtime/deadlock_module.hpp"
#include "runtime/job_clock.hpp"
#include "runtime/main_access.hpp"
#include "runtime/progress_line.hpp"
#include "runtime/rank_output.hpp"
#include "runtime/stop_requests.hpp"
#include "runtime/submissions.hpp"

namespace nacre {

/// The services of the process that a rank needs.
struct engine_surroundings {
  const config& configuration;
  clock& time;
  machine::simulation* simulation = nullptr;  ///< null on real threads
  pools_of_process* workers = nullptr;        ///< null under simulation
  std::uint32_t ranks_on_host = 1;
  std::uint32_t ranks_sharing_cores = 1;  ///< those of them that compete for `cores`
  std::uint32_t cores = 1;                ///< that the process may use
  placement place = {};                   ///< of the rank's threads
  trace::file_writer* trace = nullptr;    ///< null: no trace
  std::size_t trace_thread_bytes = 0;
  std::function<void(rank_id, const std::string&)> fail;  ///< ends the job; any thread
};

/// The links between ranks, as the configuration describes them.
[[nodiscard]] flow::link_settings flow_settings_of(const config& configuration, bool simulated);

/// Throws usage_error: a thread that is not of the runtime, or is another rank's, acts for this one.
[[noreturn]] void refuse_thread();

/// The composition root of one rank. A layer knows only the layers below it; this class knows all of them.
class engine {
 public:
  engine(std::unique_ptr<transport::endpoint> link, const engine_surroundings& engine_surroundings);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// On real threads: runs the rank's main on the calling thread, from start to end.
  void run(const std::function<void(runtime&)>& main);
  /// Under simulation: prepares main; the event loop runs it.
  void start_simulated(const std::function<void(runtime&)>& main);
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  void stop_simulated() {
    sim_pool_->stop();
    output_.finish();
  }
  /// Under simulation: whether main has ended, or waits for an event that has not happened.
  [[nodiscard]] bool main_waits() const noexcept { return !main_active_.load(); }
  /// Under simulation: whether the rank has no effect, in the sense of simulated_deadlock.hpp.
  [[nodiscard]] bool has_nothing_under_way() {
    return main_waits() && !objects_.waits().gives_up() && sim_pool_->has_nothing() && link_.waiting_bytes() == 0 &&
           !link_.duties().timers().pending() && !objects_.forwarding().awaits_news() &&
           !objects_.updates().has_news_to_tell() && !extensions_.has_timers() && flow_.waiting_bytes() == 0 &&
           !unreliable_.waits() && !images_.alarm().is_set();
  }

  [[nodiscard]] backplane& link() noexcept { return link_; }
  [[nodiscard]] worker_pool& pool() noexcept { return *pool_; }
  [[nodiscard]] const worker_pool& pool() const noexcept { return *pool_; }
  [[nodiscard]] am_engine& messages() noexcept { return messages_; }
  [[nodiscard]] object_space& objects() noexcept { return objects_; }
  [[nodiscard]] quiescence_module& quiet() noexcept { return quiet_; }
  [[nodiscard]] balancing& balance() noexcept { return balance_; }
  [[nodiscard]] collectives_module& collectives() noexcept { return collectives_; }
  [[nodiscard]] group_table& groups() noexcept { return groups_; }
  [[nodiscard]] memory_module& memory() noexcept { return memory_; }
  [[nodiscard]] container_module& containers() noexcept { return containers_; }
  [[nodiscard]] checkpoints& images() noexcept { return images_; }
  [[nodiscard]] extension_module& extensions() noexcept { return extensions_; }
  /// Inputs of the rank from outside of the runtime: of other threads, and signals.
  struct outside_inputs {
    nacre::submissions submissions;
    stop_requests stops;
  };
  [[nodiscard]] outside_inputs& outside() noexcept { return outside_; }
  [[nodiscard]] rank_id rank() const noexcept { return link_.rank(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return link_.size(); }
  [[nodiscard]] const rank_output& output() const noexcept { return output_; }
  [[nodiscard]] job_clock& job_time() noexcept { return job_time_; }
  [[nodiscard]] rank_progress so_far() const;
  /// Sums over all threads of the rank.
  [[nodiscard]] rank_counters counters() const noexcept;

  /// Calls `begin` and lets main wait. `begin` gets a function that ends the wait, to be called once, on any thread.
  /// Meanwhile main is no unit of work.
  void wait_as_application(thread_context& thread, quiescence::main_wait main_wait,
                           const std::function<void(std::function<void(thread_context&)>)>& begin);
  void wait_for(thread_context& thread, detail::future_state& state);
  /// As wait_for, until the instant `due` of the rank's clock. Returns whether the result is there.
  [[nodiscard]] bool wait_until(thread_context& thread, detail::future_state& state, std::chrono::nanoseconds due);
  /// While objects are held, it ends also when all open units lie; see wave_detector.
  void wait_quiescence(thread_context& thread);
  /// Posts a message to this rank at the next quiescence.
  void post_on_quiescence(thread_context& thread, message_ptr m);

  /// Backpressure before a send: main waits while too much waits to be sent, or to be run within this process. On real
  /// threads main's thread runs other work meanwhile. Handlers do not wait.
  void throttle(thread_context& thread) {
    expect_own_thread();
    if (overrun() && !access_.holds()) wait_for_window(thread);
  }
  /// Throws usage_error when a thread of the program calls, or one of another rank, or in a process that the rank has
  /// forked. Each call by which a program sends or waits makes this check first, and has no effect then.
  void expect_own_thread() const {
    if (pool_of_this_thread != own_threads_) [[unlikely]]
      refuse_thread();
  }
  [[nodiscard]] main_access& access() noexcept { return access_; }

  friend void detail::post_with_flow_control(engine&, thread_context&, rank_id, flow_policy, message_ptr);
  friend void detail::post_unreliable(engine&, thread_context&, rank_id, message_ptr,
                                      std::span<const std::span<const std::byte>>);

  /// Under simulation: a message has become visible.
  void on_arrival() { sim_pool_->on_arrival(); }

 private:
  [[nodiscard]] bool overrun() const noexcept {
    return link_.congested() || flow_.waiting_bytes() > send_bytes_ ||
           (messages_.window() != nullptr && messages_.window()->over());
  }
  [[nodiscard]] std::unique_ptr<worker_pool> make_worker_pool(const engine_surroundings& engine_surroundings);
  void main_of_rank(const std::function<void(runtime&)>& main);
  void wait_for_window(thread_context& thread);
  [[nodiscard]] std::chrono::nanoseconds check_send_window(thread_context& thread);
  void wait_for_end(thread_context& thread);
  std::chrono::nanoseconds poll(thread_context& thread);
  [[nodiscard]] quiescence::deadlock_detector::snapshot look_for_deadlock();

  const config& configuration_;
  const std::uint64_t send_bytes_;  // that may wait to be sent before main waits
  clock& time_;
  job_clock job_time_;
  std::function<void(rank_id, const std::string&)> fail_;
  std::unique_ptr<scheduler> order_;
  backplane link_;
  sim_pool* sim_pool_ = nullptr;
  thread_pool* thread_pool_ = nullptr;
  rank_output output_;
  std::unique_ptr<worker_pool> pool_;
  const void* own_threads_;  // the mark of the threads of this rank, see exec/own_thread.hpp
  pools_of_process* workers_;
  am_engine messages_;
  object_space objects_;
  collectives_module collectives_;
  memory_module memory_;
  container_module containers_;
  extension_module extensions_;
  flow_module flow_;
  unreliable_module unreliable_;
  quiescence_module quiet_;
  balancing balance_;
  progress_module progress_;
  deadlock_module deadlock_;
  outside_inputs outside_;
  std::atomic<bool> main_active_{true};
  std::atomic<bool> waits_for_window_{false};       // main waits in throttle
  std::atomic<quiescence::main_wait> main_wait_{};  // kind of main's present or last wait; for messages only
  std::atomic<bool> roused_{false};                 // quiescence has started work on this rank, see wait_for_end
  main_access access_;
  checkpoints images_;
  bool backpressure_ = false;  // poll loop only: at its last pass the link was under backpressure
  bool ended_ = false;
  group_table groups_;  // last: its members may use everything else while they end
};

}  // namespace nacre
