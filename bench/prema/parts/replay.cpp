// SPDX-License-Identifier: Apache-2.0
// Starts synthetic and reads what it has found.
#include "prema/parts/replay.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs.hpp"

namespace bench {

std::vector<std::string> simulated_network(const std::string& costs) {
  if (!costs.empty()) return {"--nacre.transport=sim", "--nacre.config=" + costs};
  return {"--nacre.transport=sim", "--nacre.sim.latency=0s", "--nacre.sim.send_overhead=2200ns",
          "--nacre.sim.receive_overhead=2200ns", "--nacre.sim.bandwidth=4.85"};
}

std::vector<std::string> balanced_machine(int ranks, int cores_a_rank) {
  return {fmt::format("--nacre.ranks={}", ranks),
          fmt::format("--nacre.workers={}", cores_a_rank),
          "--nacre.balance.tick=50ms",
          "--nacre.balance.diffusion.interval=50ms",
          "--nacre.balance.diffusion.interval_max=1s",
          "--nacre.balance.steal.backoff=50ms",
          "--nacre.balance.steal.backoff_max=1s",
          "--nacre.balance.steal.hold=100ms",
          "--nacre.balance.steal.arrival_timeout=100ms",
          "--nacre.balance.lifeline.arrival_timeout=100ms",
          "--nacre.balance.greedy_refine.interval=5s",
          "--nacre.balance.greedy_refine.interval_max=20s",
          "--nacre.balance.greedy_refine.objects_max=1000"};
}

figures run_synthetic(const std::vector<std::string>& words, bool measures_overhead) {
  const std::string summary =
      (std::filesystem::temp_directory_path() / fmt::format("prema.{}.json", getpid())).string();
  std::vector<std::string> command{(own_folder() / "synthetic").string(), "--json", "--nacre.summary_json=" + summary};
  command.insert(command.end(), words.begin(), words.end());
  const outcome got = run_command(command);
  if (got.exit_code != 0 || got.lines.empty()) {
    std::string line;
    for (const std::string& word : command) line += " " + word;
    throw std::runtime_error("this failed:" + line);
  }
  const auto report = nlohmann::json::parse(got.lines.front());
  figures result{report.at("seconds"), report.at("least_core_seconds"), report.at("most_core_seconds"),
                 report.at("longest_first_seconds")};
  result.moves = report.at("moves");
  std::ifstream file(summary);
  const auto workers = nlohmann::json::parse(file).at("workers");
  std::filesystem::remove(summary);
  if (!measures_overhead) return result;
  result.overhead_least = 1e300;
  for (const auto& each : workers) {
    const double in_runtime = each.at("runtime_seconds").get<double>();
    result.overhead_least = std::min(result.overhead_least, in_runtime);
    result.overhead_most = std::max(result.overhead_most, in_runtime);
    result.overhead_mean += in_runtime / static_cast<double>(workers.size());
  }
  return result;
}

std::string column(double seconds) {
  return seconds < 1000 ? fmt::format("{:>#9.4g}", seconds) : fmt::format("{:>9.1f}", seconds);
}

std::string row(const std::string& name, const figures& figures, double without) {
  std::string text = fmt::format("{:26}{}{}{}{:>8.1f}{:>9.1f}{:>8}", name, column(figures.seconds),
                                 column(figures.least), column(figures.most), 100 * (1 - figures.seconds / without),
                                 100 * (figures.seconds / figures.bound - 1), figures.moves);
  if (figures.overhead_most > 0) {
    text +=
        fmt::format("{:>9.4f}{:>9.4f}{:>9.4f}", figures.overhead_least, figures.overhead_mean, figures.overhead_most);
  }
  return text + "\n";
}

nlohmann::ordered_json json_of(int cores, const std::string& name, bool declared, const figures& figures,
                               double without) {
  return {{"cores", cores},
          {"policy", name},
          {"declared", declared},
          {"seconds", figures.seconds},
          {"least_core_seconds", figures.least},
          {"most_core_seconds", figures.most},
          {"gain", 1 - figures.seconds / without},
          {"longest_first_seconds", figures.bound},
          {"moves", figures.moves},
          {"overhead_least", figures.overhead_least},
          {"overhead_mean", figures.overhead_mean},
          {"overhead_most", figures.overhead_most}};
}

}  // namespace bench
