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

outcome run_once(const plan& how, const real_row& of, const program& what) {
  std::vector<std::string> command;
  if (of.transport != "inproc") {
    const bench::launcher start = bench::launcher_of(of.transport, ranks);
    if (!start.missing.empty()) throw std::runtime_error(start.missing);
    command = start.words;
  }
  command.insert(
      command.end(),
      {(bench::own_folder() / "task_trees").string(), "--as-job", fmt::format("--shapes={}", name_of(of.shape)),
       fmt::format("--costs={}", name_of(of.law)), fmt::format("--micros={}", of.micros),
       fmt::format("--real-tasks={}", what.tasks), fmt::format("--rounds={}", what.rounds_a_second),
       fmt::format("--seed={}", what.seed), "--nacre.workers=1"});
  if (of.transport == "inproc") command.push_back(fmt::format("--nacre.ranks={}", ranks));
  if (of.balancer != "default") command.push_back("--nacre.balancer=" + of.balancer);
  for (const std::string& each : how.settings) command.push_back("--nacre." + each);
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0 || got.lines.empty()) throw std::runtime_error("a job of real ranks has failed");
  const auto found = nlohmann::json::parse(got.lines.front());
  if (found.at("tasks") != what.tasks) throw std::runtime_error("a job of real ranks has lost tasks");
  return {found.at("seconds"), found.at("moves")};
}

/// All balancers on one program over one transport.
std::vector<real_row> compare(const plan& how, const real_row& of, const program& what) {
  std::vector<real_row> all;
  std::vector<std::vector<outcome>> got(how.balancers.size());
  for (int run = 0; run < how.runs; ++run) {
    for (std::size_t b = 0; b < how.balancers.size(); ++b) {
      real_row one = of;
      one.balancer = how.balancers[b];
      got[b].push_back(run_once(how, one, what));
    }
  }
  double best = 1e300;
  const bounds least = bounds_of(what);
  for (std::size_t b = 0; b < how.balancers.size(); ++b) {
    std::sort(got[b].begin(), got[b].end(), [](const outcome& x, const outcome& y) { return x.seconds < y.seconds; });
    real_row one = of;
    one.balancer = how.balancers[b];
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

void measure_real(const plan& how, const std::function<void(const real_row&)>& tell) {
  const double rounds = calibrate();
  for (const std::string& transport : how.transports) {
    for (const std::string& shape : how.shapes) {
      for (const std::string& law : how.laws) {
        for (const std::uint32_t micros : how.micros) {
          const program what{.shape = shape_of(shape),
                             .law = law_of(law),
                             .tasks = how.real_tasks,
                             .mean_seconds = micros * 1e-6,
                             .seed = how.seed,
                             .work = work::computed,
                             .rounds_a_second = rounds};
          const real_row of{.transport = transport,
                            .shape = what.shape,
                            .law = what.law,
                            .micros = micros,
                            .balancer = {},
                            .seconds = {}};
          for (const real_row& each : compare(how, of, what)) tell(each);
        }
      }
    }
  }
}

int serve(const nacre::config& configuration, const program& what) {
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    const measurement found = run(rt, what);
    if (rt.rank().value() != 0) return;
    bench::print_json({{"seconds", found.seconds}, {"tasks", found.tasks}, {"moves", found.moves}});
    std::fflush(stdout);
  });
}

}  // namespace task_trees
