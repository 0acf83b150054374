// SPDX-License-Identifier: Apache-2.0
// Starting and ending the ranks of this process.
#include "runtime/job.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nacre/error.hpp>

#include "am/handler_table.hpp"
#include "base/clock.hpp"
#include "base/drained.hpp"
#include "runtime/engine.hpp"
#include "transport/launch/foreign_launcher.hpp"
#include "transport/sim/sim_fabric.hpp"
#include "transport/transport.hpp"

namespace nacre {
namespace {

/// Ends the process on the first failure; later ones are consequences.
[[noreturn]] void end_process(rank_id rank, const std::string& why) {
  static std::atomic_flag ended;
  if (ended.test_and_set()) {
    for (;;) std::this_thread::yield();  // another thread is ending the process
  }
  std::fflush(stdout);
  if (!why.empty()) {
    const std::string line = "nacre: rank " + std::to_string(rank.value()) + ": " + why + "; the job ends\n";
    std::fputs(line.c_str(), stderr);
  }
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

std::unique_ptr<transport::fabric> open_fabric(const config& configuration) {
  const transport::backend& chosen = transport::find_backend(configuration.get_string("transport"));
  const transport::program own{.handlers = handler_table::get().fingerprint()};
  if (transport::started_by_launcher() || chosen.needs_launcher) {
    if (chosen.join_job == nullptr) {
      throw setup_error("transport '" + std::string(chosen.name) +
                        "' keeps all ranks in one process, so a launcher cannot start it: run the program without "
                        "`nacre run`, with --nacre.ranks=N, or choose --nacre.transport=shm");
    }
    return chosen.join_job(configuration, own);
  }
  // One who names a transport inside the process means it, whatever has started the process.
  if (chosen.join_job != nullptr || configuration.source_of("transport") <= setting_source::program) {
    transport::launch::refuse_lonely_task(chosen.name);
  }
  if (transport::started_by_pmix() && chosen.join_job != nullptr) return chosen.join_job(configuration, own);
  return chosen.make_local(static_cast<std::uint32_t>(configuration.get_int("ranks")), configuration);
}

void run_threads(transport::fabric& fabric, const config& configuration, const std::function<void(runtime&)>& main) {
  steady_clock_source time;
  const auto local = fabric.local_ranks();
  // Ranks of one job on one host share its cores.
  const engine_surroundings around{configuration, time, nullptr, fabric.ranks_on_host(), &end_process};
  const auto run_rank = [&](rank_id rank) {
    engine one(fabric.open(rank), around);
    one.run(main);
  };
  std::vector<std::thread> others;
  for (const rank_id rank : local.subspan(1)) {
    others.emplace_back([&, rank] {
      try {
        run_rank(rank);
      } catch (const std::exception& error) {
        end_process(rank, error.what());
      }
    });
  }
  run_rank(local.front());
  for (std::thread& each : others) each.join();
}

/// Units of work that all ranks have finished: what must grow for a simulation to be getting anywhere.
std::uint64_t units_done(const std::vector<std::unique_ptr<engine>>& engines) {
  std::uint64_t sum = 0;
  for (const auto& each : engines) {
    for (const auto& one : each->team().lanes()) sum += one->tallies().done.read();
  }
  return sum;
}

[[noreturn]] void report_standstill(const std::vector<std::unique_ptr<engine>>& engines) {
  std::string waiting;
  for (const auto& each : engines) {
    if (!each->ended() && each->main_waits())
      waiting += (waiting.empty() ? "" : ", ") + std::to_string(each->rank().value());
  }
  end_process(engines.front()->rank(), "deadlock: nothing can happen any more, while main waits on rank " + waiting +
                                           " for a result or for the others");
}

simulation_report run_simulated(transport::fabric& fabric, const config& configuration,
                                const std::function<void(runtime&)>& main) {
  constexpr std::uint64_t events_between_looks = 1u << 20;
  auto& simulated = static_cast<transport::sim_fabric&>(fabric);
  virtual_clock time(simulated.machine());
  const auto on_host = static_cast<std::uint32_t>(configuration.get_int("sim.ranks_per_host"));
  const engine_surroundings around{configuration, time, &simulated.machine(), on_host, &end_process};
  std::vector<std::unique_ptr<engine>> engines;
  for (const rank_id rank : fabric.local_ranks()) {
    auto link = fabric.open(rank);
    auto& end = static_cast<transport::sim_endpoint&>(*link);
    engines.push_back(std::make_unique<engine>(std::move(link), around));
    end.set_arrival_hook([](void* subject) { static_cast<engine*>(subject)->on_arrival(); }, engines.back().get());
  }
  for (const auto& each : engines) each->start_simulated(main);
  const auto all_ended = [&] {
    return std::all_of(engines.begin(), engines.end(), [](const auto& each) { return each->ended(); });
  };
  std::uint64_t done_before = 0;
  for (std::uint64_t events = 1; !all_ended(); ++events) {
    // all_ended looks at one rank in the common case: the first has not ended.
    const bool more = fabric.advance();
    if (more && events % events_between_looks != 0) continue;
    const std::uint64_t done = units_done(engines);
    const bool mains_wait = std::all_of(engines.begin(), engines.end(),
                                        [](const auto& each) { return each->ended() || each->main_waits(); });
    if (!more || (done == done_before && mains_wait)) report_standstill(engines);
    done_before = done;
  }
  for (const auto& each : engines) each->stop_simulated();
  const machine::simulation& machine = simulated.machine();
  return {std::chrono::duration<double>(machine.now()).count(), machine.events(), machine.trace_hash()};
}

}  // namespace

void let_launcher_read() {
  if (transport::backend_of_launcher().empty()) return;
  std::fflush(stdout);
  constexpr std::chrono::milliseconds patience{250};
  drained(STDOUT_FILENO, patience);
  drained(STDERR_FILENO, patience);
}

simulation_report run_job(const config& configuration, const std::function<void(runtime&)>& main) {
  const std::unique_ptr<transport::fabric> fabric = open_fabric(configuration);
  if (dynamic_cast<transport::sim_fabric*>(fabric.get()) != nullptr) {
    return run_simulated(*fabric, configuration, main);
  }
  run_threads(*fabric, configuration, main);
  return {};
}

}  // namespace nacre
