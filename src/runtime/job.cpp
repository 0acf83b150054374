// SPDX-License-Identifier: Apache-2.0
// Starts and ends the ranks of this process.
#include "runtime/job.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>
#include <nacre/scheduler.hpp>

#include "am/handler_table.hpp"
#include "base/available_memory.hpp"
#include "base/cgroup_limits.hpp"
#include "base/clock.hpp"
#include "base/drained.hpp"
#include "base/exception_text.hpp"
#include "base/forked_child.hpp"
#include "base/large_pool.hpp"
#include "base/output_file.hpp"
#include "exec/thread_binding.hpp"
#include "exec/thread_shortage.hpp"
#include "join/launch/foreign_launcher.hpp"
#include "join/launch/image_wish.hpp"
#include "join/launch/job_credentials.hpp"
#include "runtime/command_text.hpp"
#include "runtime/crash_report.hpp"
#include "runtime/early_exit.hpp"
#include "runtime/engine.hpp"
#include "runtime/last_image.hpp"
#include "runtime/memory_defaults.hpp"
#include "runtime/memory_shortage.hpp"
#include "runtime/rank_placement.hpp"
#include "runtime/simulated_deadlock.hpp"
#include "runtime/simulation_watch.hpp"
#include "transport/sim/sim_fabric.hpp"
#include "transport/transport.hpp"

namespace nacre {
namespace {

constexpr std::size_t trace_thread_bytes_min = std::size_t{4} << 10;
constexpr std::size_t trace_thread_bytes_max = std::size_t{256} << 10;

/// Ends the process on the first failure; later ones are consequences.
[[noreturn]] void end_process(rank_id rank, const std::string& reason) {
  if (is_forked_child()) {
    std::fprintf(stderr, "nacre: a process that rank %u has forked: %s\n", rank.value(), reason.c_str());
    end_forked_child(EXIT_FAILURE);
  }
  static std::atomic_flag ended;
  if (ended.test_and_set()) {
    for (;;) std::this_thread::yield();  // another thread is ending the process
  }
  std::fflush(stdout);
  // One unbuffered write that allocates no memory.
  if (!reason.empty()) std::fprintf(stderr, "nacre: rank %u: %s; the job ends\n", rank.value(), reason.c_str());
  let_launcher_read();
  std::_Exit(1);
}

class virtual_clock final : public clock {
 public:
  explicit virtual_clock(const machine::simulation& machine) : machine_(machine) {}
  [[nodiscard]] std::chrono::nanoseconds now() override { return machine_.now(); }

 private:
  const machine::simulation& machine_;
};

constexpr std::uint32_t local_ranks_max = 4096;  // as the limit of `nacre run`

[[noreturn]] void refuse_ranks(std::uint32_t ranks, std::string_view transport) {
  throw setup_error(
      {.problem = fmt::format("ranks={} is too many under {}", ranks, transport),
       .why = fmt::format("each has threads of its own; a process holds at most {} such ranks", local_ranks_max),
       .remedy = "choose fewer, or --nacre.transport=sim, where a rank needs no thread"});
}

std::unique_ptr<transport::fabric> open_fabric(const config& configuration) {
  const transport::backend& chosen = transport::find_backend(configuration.get_string("transport"));
  const transport::program program{.handlers = handler_table::get().fingerprint()};
  if (launch::started_by_launcher() || chosen.needs_launcher) {
    if (chosen.join_job == nullptr) {
      throw setup_error("transport '" + std::string(chosen.name) +
                        "' keeps all ranks in one process, so a launcher cannot start it: run the program without "
                        "`nacre run`, with --nacre.ranks=N, or choose --nacre.transport=shm");
    }
    return chosen.join_job(configuration, program);
  }
  // A transport inside the process that was chosen explicitly is valid under any launcher.
  if (chosen.join_job != nullptr || configuration.source_of("transport") <= setting_source::program) {
    launch::refuse_lonely_task(chosen.name);
  }
  if (launch::started_by_pmix() && chosen.join_job != nullptr) return chosen.join_job(configuration, program);
  const auto ranks = static_cast<std::uint32_t>(configuration.get_int("ranks"));
  if (!chosen.virtual_time && ranks > local_ranks_max) refuse_ranks(ranks, chosen.name);
  if (chosen.virtual_time) {
    const auto workers = static_cast<std::uint32_t>(configuration.get_int("workers"));
    expect_memory_for({.count = ranks, .workers = std::max(workers, 1U)}, available_memory());
  }
  try {
    return chosen.make_local(ranks, configuration);
  } catch (const std::bad_alloc&) {
    if (chosen.name != "sim") throw;
    end_for_want_of_memory(ranks);
  }
}

/// Null if no trace is asked for. The ranks of this process share a file: FILE, or if the job has further processes,
/// FILE.RANK with the first local rank. A later life of a job writes FILE.life2, or FILE.life2.RANK, beside that of the
/// life before, which tells why that has ended.
std::unique_ptr<trace::file_writer> open_trace(const transport::fabric& fabric, const config& configuration) {
  if (!configuration.was_set("trace")) return nullptr;
  std::string path = configuration.get_string("trace");
  if (const std::uint32_t life = life_of_job(); life > 1) path += ".life" + std::to_string(life);
  const auto local = fabric.local_ranks();
  if (local.size() != fabric.size()) path += '.' + std::to_string(local.front().value());
  auto file = std::make_unique<trace::file_writer>(path);
  trace::job_description job;
  job.ranks = fabric.size();
  job.program = program_invocation_short_name;
  job.transport = configuration.get_string("transport");
  job.balancer = configuration.get_string("balancer");
  job.simulated = dynamic_cast<const transport::sim_fabric*>(&fabric) != nullptr;
  job.handlers.emplace_back();
  const handler_table& table = handler_table::get();
  for (std::uint32_t id = 1; id < table.handlers(); ++id) {
    const detail::handler_info* const row = table.handler(id);
    job.handlers.emplace_back(row != nullptr ? row->name : "a library that is gone");
  }
  trace::tell_job(*file, job);
  return file;
}

/// Whether nothing of the trace is lost; null: there is none.
bool is_whole(trace::file_writer* file) { return file == nullptr || file->is_whole(); }

/// Checks at the start of the job that rank 0 can write the files that it writes at the end.
void check_outputs(const transport::fabric& fabric, const config& configuration) {
  if (fabric.local_ranks().front().value() != 0) return;
  if (configuration.was_set("summary_json"))
    check_output(configuration.get_string("summary_json"), "the summary", "--nacre.summary_json");
  if (configuration.was_set("record_load"))
    check_output(configuration.get_string("record_load"), "the load trace", "--nacre.record_load");
  constexpr std::array<std::string_view, 3> outputs{"trace", "summary_json", "record_load"};
  for (std::size_t a = 0; a < outputs.size(); ++a) {
    for (std::size_t b = a + 1; b < outputs.size(); ++b) {
      const std::string path = configuration.get_string(outputs[a]);
      if (path.empty() || path != configuration.get_string(outputs[b])) continue;
      std::error_code none;
      if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none)) continue;  // a device
      throw setup_error({fmt::format("--nacre.{} and --nacre.{} are both {}", outputs[a], outputs[b], path),
                         "one would replace the other", "choose two names"});
    }
  }
}

/// The number of bytes of the trace that a thread may hold before it writes them.
std::size_t trace_thread_bytes(const transport::fabric& fabric, const config& configuration) {
  const auto all = static_cast<std::size_t>(configuration.get_int("trace_memory"));
  const auto workers = std::max<std::size_t>(static_cast<std::size_t>(configuration.get_int("workers")), 1);
  return std::clamp(all / (fabric.local_ranks().size() * (workers + threads_beside_workers)), trace_thread_bytes_min,
                    trace_thread_bytes_max);
}

/// The configuration with the defaults that the control groups of this process permit. A simulation has no such: its
/// course would depend on the host.
config within_memory(const transport::fabric& fabric, config configuration) {
  const auto limit = limits_of_this_process().memory_bytes;
  if (!limit) return configuration;
  const memory_share share{.bytes = *limit, .ranks = fabric.ranks_on_host()};
  lower_own_memory(configuration, share);
  if (fabric.local_ranks().size() == fabric.size()) lower_receive_memory(configuration, share);
  return configuration;
}

/// Runs the ranks, each on a thread of its own, the first one on the calling thread. Other ranks of this process may be
/// anywhere in user code and cannot be stopped, so an exception ends the process.
void run_side_by_side(std::span<const rank_id> ranks, const std::function<void(rank_id)>& run_rank) {
  const auto run_or_end = [&](rank_id rank) {
    try {
      run_rank(rank);
    } catch (...) {
      end_process(rank, text_of_thrown());
    }
  };
  std::vector<std::thread> others;
  for (const rank_id rank : ranks.subspan(1)) {
    try {
      others.emplace_back(run_or_end, rank);
    } catch (const std::exception& error) {
      end_process(rank, thread_shortage(others.size(), ranks.size() - 1, error).what());
    }
  }
  run_or_end(ranks.front());
  for (std::thread& each : others) each.join();
}

job_report run_threads(transport::fabric& fabric, const config& configuration,
                       const std::function<void(runtime&)>& main) {
  steady_clock_source time;
  const auto local = fabric.local_ranks();
  check_outputs(fabric, configuration);
  const std::unique_ptr<trace::file_writer> traced = open_trace(fabric, configuration);
  const rank_placement places(configuration, fabric);
  pools_of_process workers;
  const engine_surroundings surroundings{.configuration = configuration,
                                         .time = time,
                                         .workers = &workers,
                                         .ranks_on_host = fabric.ranks_on_host(),
                                         .ranks_sharing_cores = fabric.ranks_sharing_cores(),
                                         .cores = places.cores(),
                                         .trace = traced.get(),
                                         .trace_thread_bytes = trace_thread_bytes(fabric, configuration),
                                         .fail = &end_process};
  std::atomic<bool> left_all{true};
  std::atomic<int> code{0};
  const auto run_rank = [&](rank_id rank) {
    engine_surroundings site = surroundings;
    site.place = places.of(static_cast<std::size_t>(std::find(local.begin(), local.end(), rank) - local.begin()));
    const bound_scope bound(site.place.rank);  // first, so that the rank's memory is where its workers are
    engine one(fabric.open(rank), site);
    one.run(main);
    if (one.images().exit_code() != 0) code = one.images().exit_code();
    if (!one.output().left_all()) left_all = false;
  };
  if (local.size() == 1) {
    run_rank(local.front());
  } else {
    run_side_by_side(local, run_rank);
  }
  return {.code = code, .left_all = left_all && is_whole(traced.get())};
}

/// The progress line of a simulation, which reads all its ranks directly.
class simulated_progress {
 public:
  simulated_progress(const config& configuration, const std::vector<std::unique_ptr<engine>>& engines)
      : engines_(engines), after_(configuration.get_duration("progress_line")) {
    if (after_.count() != 0 && terminal_line::possible()) due_ = time_.now() + after_;
  }
  void look(double virtual_seconds) {
    if (due_ == std::chrono::nanoseconds::max() || time_.now() < due_) return;
    std::vector<rank_progress> ranks;
    for (const auto& each : engines_) ranks.push_back(each->so_far());
    line_.show("simulated, of virtual time: " + teller_.text(ranks, ranks.size(), virtual_seconds));
    due_ = time_.now() + std::min<std::chrono::nanoseconds>(after_, std::chrono::milliseconds(250));
  }

 private:
  const std::vector<std::unique_ptr<engine>>& engines_;
  std::chrono::nanoseconds after_;
  steady_clock_source time_;
  std::chrono::nanoseconds due_ = std::chrono::nanoseconds::max();
  progress_teller teller_;
  terminal_line line_;
};

/// Runs the machine until all mains have ended.
void run_events(transport::sim_fabric& simulated, const config& configuration,
                const std::vector<std::unique_ptr<engine>>& engines) {
  constexpr std::uint64_t events_between_glances = 1u << 10;  // between reads of wall time, for the progress line
  // A rank that has ended stays ended, so each rank is checked only until then.
  auto all_ended = [&engines, ended = std::size_t{0}]() mutable {
    while (ended < engines.size() && engines[ended]->ended()) ++ended;
    return ended == engines.size();
  };
  simulated_progress told(configuration, engines);
  const deadlock end(simulated, engines);
  // reached() visits at most all ranks, so on average at most one rank for eight events.
  const std::uint64_t events_between_looks = std::max<std::uint64_t>(1u << 12, std::bit_ceil(8 * engines.size()));
  for (std::uint64_t events = 1; !all_ended(); ++events) {
    const bool more = simulated.advance();
    if (events % events_between_glances == 0)
      told.look(std::chrono::duration<double>(simulated.machine().now()).count());
    if (more && (events % events_between_looks != 0 || !end.reached())) continue;
    if (end.give_up_waits()) continue;
    end_process(engines.front()->rank(), end.description());
  }
}

job_report run_simulated(transport::fabric& fabric, const config& configuration,
                         const std::function<void(runtime&)>& main) {
  auto& simulated = static_cast<transport::sim_fabric&>(fabric);
  const own_thread mark(&simulated.machine());
  const signal_stack stack;
  virtual_clock time(simulated.machine());
  const auto on_host = static_cast<std::uint32_t>(configuration.get_int("sim.ranks_per_host"));
  check_outputs(fabric, configuration);
  const std::unique_ptr<trace::file_writer> traced = open_trace(fabric, configuration);
  const engine_surroundings engine_surroundings{.configuration = configuration,
                                                .time = time,
                                                .simulation = &simulated.machine(),
                                                .ranks_on_host = on_host,
                                                .trace = traced.get(),
                                                .trace_thread_bytes = trace_thread_bytes(fabric, configuration),
                                                .fail = &end_process};
  simulated.set_end_of_time([](rank_id source) {
    end_process(source,
                "it sends after 100 days of virtual time, which is as long as a simulation may take: choose less "
                "work, or count in a smaller unit");
  });
  std::vector<std::unique_ptr<engine>> engines;
  const memory_watch watched(simulated.size());
  try {
    for (const rank_id rank : fabric.local_ranks()) {
      auto link = fabric.open(rank);
      auto& end = static_cast<transport::sim_endpoint&>(*link);
      engines.push_back(std::make_unique<engine>(std::move(link), engine_surroundings));
      end.set_arrival_hook([](void* subject) { static_cast<engine*>(subject)->on_arrival(); }, engines.back().get());
    }
    for (const auto& each : engines) each->start_simulated(main);
    const simulation_watch looked_at(simulated.machine(), configuration.get_duration("deadlock_patience"));
    run_events(simulated, configuration, engines);
  } catch (const std::bad_alloc&) {
    end_for_want_of_memory(simulated.size());  // the ranks are left as they are: destroying them would take memory
  }
  for (const auto& each : engines) each->stop_simulated();
  const machine::simulation& machine = simulated.machine();
  return {.code = engines.front()->images().exit_code(),
          .left_all = engines.front()->output().left_all() && is_whole(traced.get()),
          .seconds = std::chrono::duration<double>(machine.now()).count(),
          .events = machine.events(),
          .trace_hash = machine.trace_hash()};
}

}  // namespace

void let_launcher_read() {
  if (transport::backend_of_launcher().empty()) return;
  std::fflush(stdout);
  constexpr std::chrono::milliseconds patience{250};
  drained(STDOUT_FILENO, patience);
  drained(STDERR_FILENO, patience);
}

job_report run_job(const config& configuration, const std::function<void(runtime&)>& main) {
  const handler_use numbers;  // before all that tells peers of them
  launch::forget_last_image();
  const early_exit watched;  // before the transport, so that exit handlers of the transport run first
  const std::unique_ptr<transport::fabric> fabric = open_fabric(configuration);
  const crash_report crashes;
  const last_image_signals signals(configuration, fabric->local_ranks().front().value() == 0);
  const bool simulated = dynamic_cast<transport::sim_fabric*>(fabric.get()) != nullptr;
  const config bounded = simulated ? configuration : within_memory(*fabric, configuration);
  process_large_pool().keep_at_most(static_cast<std::uint64_t>(bounded.get_int("spare_memory")));
  return simulated ? run_simulated(*fabric, bounded, main) : run_threads(*fabric, bounded, main);
}

}  // namespace nacre
