// SPDX-License-Identifier: Apache-2.0
// Ranks of `nacre calibrate` print a line of JSON for each result.
#include "tool/calibration_jobs.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <nacre/error.hpp>
#include <nacre/nacre.hpp>

#include "calibration/command.hpp"
#include "calibration/link_fit.hpp"
#include "calibration/moves.hpp"
#include "calibration/runtime_costs.hpp"

namespace nacre::tool {
namespace {

using nlohmann::json;

constexpr const char* as_costs = "costs";
constexpr const char* as_messages = "messages";
constexpr const char* as_moves = "moves";
constexpr int quick_rounds = 5;

void print_line(const json& result) {
  fmt::print("{}\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(stdout);
}

/// The options of a rank that the launcher has started, and those of the measurement.
[[nodiscard]] config rank_config(const std::vector<std::string>& options) {
  std::vector<std::string> words{"nacre"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& each : words) argv.push_back(each.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  return read_config(argc, argv.data());
}

[[nodiscard]] const std::vector<std::string>& one_busy_worker() {
  static const std::vector<std::string> options{"--nacre.workers=1", "--nacre.spin=10ms", "--nacre.progress=shared",
                                                "--nacre.balancer=none"};
  return options;
}

/// Objects go to and fro in sizes of which one is a header's, one a page's, and one beyond what is copied at once.
[[nodiscard]] std::vector<std::uint32_t> moved_sizes(bool quick) {
  if (quick) return {64, 1 << 16};
  return {64, 1024, 4096, 1 << 16, 1 << 20};
}

void serve_moves(runtime& rt, bool quick) {
  for (const std::uint32_t bytes : moved_sizes(quick)) {
    const calibration::moves moves = calibration::measure_moves(rt, bytes, false, quick ? 200 : 4000);
    if (rt.rank() == rank_id(0)) print_line({{"bytes", bytes}, {"one_way_us", moves.one_way_us}});
  }
}

/// The results of a job of so many ranks over shm, each an object of JSON.
[[nodiscard]] std::vector<json> results_of(const char* name, int ranks, bool quick) {
  const std::string nacre = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> command{nacre,       "run",     "-n", std::to_string(ranks), "--transport", "shm", nacre,
                                   "calibrate", "--serve", name};
  if (quick) command.emplace_back("--quick");
  const calibration::outcome got = calibration::run_command(command);
  if (got.exit_code != 0) {
    throw setup_error({.problem = fmt::format("the {} ranks that measure {} ended with {}", ranks, name, got.exit_code),
                       .why = "without them the machine is not known",
                       .remedy = "see their message above; options of Nacre in the environment hold for them, too"});
  }
  std::vector<json> results;
  for (const std::string& line : got.lines) {
    json one = json::parse(line, nullptr, false);
    if (one.is_object()) results.push_back(std::move(one));
  }
  return results;
}

}  // namespace

std::vector<std::size_t> calibrated_sizes(bool quick) {
  if (quick) return {8, 1 << 16};
  return {8, 256, 4096, 1 << 16, 1 << 18, 1 << 20};
}

int serve_calibration(const std::string& text, bool quick) {
  if (text == as_messages) {
    for (const calibration::sample& each :
         calibration::measure_messages(rank_config(one_busy_worker()), calibrated_sizes(quick))) {
      print_line({{"bytes", each.bytes}, {"round_trip", each.round_trip_seconds}, {"one_way", each.one_way_seconds}});
    }
    return 0;
  }
  if (text == as_moves) return run(rank_config(one_busy_worker()), [quick](runtime& rt) { serve_moves(rt, quick); });
  return run(rank_config(calibration::cost_job_options()), [quick](runtime& rt) {
    calibration::measure_costs(rt, quick ? quick_rounds : calibration::usual_rounds,
                               [](const std::string& name, double ns) {
                                 print_line({{"name", name}, {"ns", ns}});
                               });
  });
}

std::map<std::string, double> runtime_ns_of_processes(bool quick) {
  std::map<std::string, double> table;
  for (const json& each : results_of(as_costs, 3, quick)) table[each.at("name")] = each.at("ns");
  return table;
}

std::vector<calibration::sample> messages_of_processes(bool quick) {
  std::vector<calibration::sample> samples;
  for (const json& each : results_of(as_messages, 2, quick)) {
    samples.push_back({each.at("bytes"), each.at("round_trip"), each.at("one_way")});
  }
  return samples;
}

std::vector<calibration::move_time> moves_of_processes(bool quick) {
  std::vector<calibration::move_time> move_times;
  for (const json& each : results_of(as_moves, 2, quick))
    move_times.push_back({each.at("bytes"), each.at("one_way_us")});
  return move_times;
}

}  // namespace nacre::tool
