// SPDX-License-Identifier: Apache-2.0
// Two ranks of this host that compute: each balancer in turn, again and again.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "figures_file.hpp"
#include "jobs.hpp"
#include "task_trees/parts/study.hpp"

namespace task_trees {
namespace {

constexpr int ranks = 2;

struct outcome {
  double seconds = 0;
  std::uint64_t moves = 0;
};

outcome run_once(const plan& plan, const real_row& row, const program& program) {
  std::vector<std::string> command;
  if (row.transport != "inproc") {
    const bench::launcher start = bench::launcher_of(row.transport, ranks);
    if (!start.missing.empty()) throw std::runtime_error(start.missing);
    command = start.words;
  }
  command.insert(
      command.end(),
      {(bench::own_folder() / "task_trees").string(), "--as-job", fmt::format("--shapes={}", name_of(row.shape)),
       fmt::format("--costs={}", name_of(row.law)), fmt::format("--micros={}", row.micros),
       fmt::format("--real-tasks={}", program.tasks), fmt::format("--rounds={}", program.rounds_a_second),
       fmt::format("--seed={}", program.seed), "--nacre.workers=1"});
  if (row.transport == "inproc") command.push_back(fmt::format("--nacre.ranks={}", ranks));
  if (row.balancer != "default") command.push_back("--nacre.balancer=" + row.balancer);
  for (const std::string& each : plan.settings) command.push_back("--nacre." + each);
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0 || got.lines.empty()) throw std::runtime_error("a job of real ranks has failed");
  const auto json = nlohmann::json::parse(got.lines.front());
  if (json.at("tasks") != program.tasks) throw std::runtime_error("a job of real ranks has lost tasks");
  return {json.at("seconds"), json.at("moves")};
}

/// All balancers on one program over one transport.
std::vector<real_row> compare(const plan& plan, const real_row& row, const program& program) {
  std::vector<real_row> all;
  std::vector<std::vector<outcome>> got(plan.balancers.size());
  for (int run = 0; run < plan.runs; ++run) {
    for (std::size_t b = 0; b < plan.balancers.size(); ++b) {
      real_row one = row;
      one.balancer = plan.balancers[b];
      got[b].push_back(run_once(plan, one, program));
    }
  }
  double best = 1e300;
  const bounds least = bounds_of(program);
  for (std::size_t b = 0; b < plan.balancers.size(); ++b) {
    std::sort(got[b].begin(), got[b].end(), [](const outcome& x, const outcome& y) { return x.seconds < y.seconds; });
    real_row one = row;
    one.balancer = plan.balancers[b];
    for (const outcome& each : got[b]) one.seconds.push_back(each.seconds);
    one.moves = got[b][got[b].size() / 2].moves;
    one.ideal = std::max(least.work / ranks, least.longest_path);
    best = std::min(best, one.median());
    all.push_back(std::move(one));
  }
  for (real_row& each : all) each.over_best = each.median() / best;
  return all;
}

}  // namespace

void measure_real(const plan& plan, const std::function<void(const real_row&)>& tell) {
  const double rounds = calibrate();
  for (const std::string& transport : plan.transports) {
    for (const std::string& shape : plan.shapes) {
      for (const std::string& law : plan.laws) {
        for (const std::uint32_t micros : plan.micros) {
          const program program{.shape = shape_of(shape),
                                .law = law_of(law),
                                .tasks = plan.real_tasks,
                                .mean_seconds = micros * 1e-6,
                                .seed = plan.seed,
                                .work = work::computed,
                                .rounds_a_second = rounds};
          const real_row row{.transport = transport,
                             .shape = program.shape,
                             .law = program.law,
                             .micros = micros,
                             .balancer = {},
                             .seconds = {}};
          for (const real_row& each : compare(plan, row, program)) tell(each);
        }
      }
    }
  }
}

int serve(const nacre::config& configuration, const program& program) {
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    const measurement measurement = run(rt, program);
    if (rt.rank().value() != 0) return;
    bench::print_json({{"seconds", measurement.seconds}, {"tasks", measurement.tasks}, {"moves", measurement.moves}});
    std::fflush(stdout);
  });
}

}  // namespace task_trees
