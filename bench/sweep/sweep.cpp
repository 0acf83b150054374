// SPDX-License-Identifier: Apache-2.0
// Does anything cost more than in proportion? Each operation of the public API with ever more of what it is about, and
// the exponent of its processor time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "parts/apart.hpp"
#include "parts/fit.hpp"
#include "parts/operation.hpp"

namespace {

struct plan {
  std::uint64_t most = 100'000;
  int runs = 3;
  double exponent_max = 1.15;
  double least_seconds = 3e-4;
  double seconds_max = 120;
  std::vector<std::string> only{};
  std::string json{};
};

struct finding {
  std::vector<sweep::point> points{};
  std::optional<double> exponent{};
  std::uint64_t failed_at = 0;  // 0: none failed

  [[nodiscard]] bool below(double exponent_max) const {
    return failed_at == 0 && (!exponent || *exponent <= exponent_max);
  }
  /// Whether it grows no faster than it may.
  [[nodiscard]] bool fine(const sweep::operation& operation, const plan& plan) const {
    return below(std::max(plan.exponent_max, operation.exponent_max));
  }
};

std::vector<sweep::operation> all_operations() {
  std::vector<sweep::operation> all;
  for (const auto& part : {sweep::object_operations(), sweep::waiting_operations(), sweep::array_operations(),
                           sweep::moving_operations(), sweep::rank_operations(), sweep::file_operations()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// The best of some runs with each number of things; it ends where one takes too long.
finding measure(const sweep::operation& operation, const plan& plan) {
  finding match;
  for (std::uint64_t n = operation.least; n <= std::min(operation.most, plan.most); n *= 10) {
    std::optional<double> best;
    for (int run = 0; run < plan.runs; ++run) {
      const auto seconds = sweep::measured_apart([&] { return operation.measure(n); }, plan.seconds_max);
      if (!seconds) break;
      best = best ? std::min(*best, *seconds) : *seconds;
      if (*seconds > plan.seconds_max / 10) break;  // that long, and noise matters little
    }
    if (!best) {
      match.failed_at = n;
      break;
    }
    match.points.push_back({n, *best});
  }
  match.exponent = sweep::exponent_of(match.points, plan.least_seconds);
  return match;
}

std::string verdict(const sweep::operation& operation, const finding& finding, const plan& plan) {
  if (finding.below(plan.exponent_max)) return {};
  if (finding.failed_at != 0) return fmt::format("FAILED with {}", finding.failed_at);
  return finding.fine(operation, plan) ? operation.reason : "GROWS TOO FAST";
}

void print(const sweep::operation& operation, const finding& finding, const plan& plan) {
  std::string times;
  for (const sweep::point& each : finding.points) {
    times += fmt::format("{:>11}", fmt::format("{:.1f} ns", each.seconds / static_cast<double>(each.n) * 1e9));
  }
  fmt::print("{:40}{:28}{:>6}  {:44} {}\n", operation.name, operation.things,
             finding.exponent ? fmt::format("{:.2f}", *finding.exponent) : "-", times,
             verdict(operation, finding, plan));
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const sweep::operation& operation, const finding& finding, const plan& plan) {
  auto points = nlohmann::ordered_json::array();
  for (const sweep::point& each : finding.points) points.push_back({{"n", each.n}, {"seconds", each.seconds}});
  nlohmann::ordered_json one{{"operation", operation.name},
                             {"things", operation.things},
                             {"points", points},
                             {"fine", finding.fine(operation, plan)},
                             {"reason", operation.reason}};
  if (finding.exponent) one["exponent"] = *finding.exponent;
  if (finding.failed_at != 0) one["failed_at"] = finding.failed_at;
  return one;
}

/// True when each is in proportion, or has a reason.
bool sweep_all(const plan& plan) {
  fmt::print(
      "Processor time of n things, best of {} runs; the exponent of n by the last three of 10^2, 10^3, ...; ns for "
      "each\n{:40}{:28}{:>6}\n",
      plan.runs, "operation", "n", "n^");
  auto all = nlohmann::ordered_json::array();
  bool good = true;
  for (const sweep::operation& operation : all_operations()) {
    const auto fits = [&](const std::string& part) {
      return (operation.name + ", " + operation.things).find(part) != std::string::npos;
    };
    if (!plan.only.empty() && std::none_of(plan.only.begin(), plan.only.end(), fits)) continue;
    const finding finding = measure(operation, plan);
    print(operation, finding, plan);
    all.push_back(json_of(operation, finding, plan));
    good = good && finding.fine(operation, plan);
  }
  bench::write_json(plan.json, all);
  return good && !all.empty();
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "sweep",
      "The exponent by which the cost of each operation grows with what it is about. The exit "
      "code is 1 if one grows faster than it may.");
  options.add("--most", plan.most, "Things at most; some operations have a lower bound of their own")
      .between(1000, 10'000'000);
  options.add("--runs", plan.runs, "Runs of each, of which the best counts").between(1, 100);
  options.add("--exponent", plan.exponent_max, "What an exponent may be without a stated reason").between(1, 3);
  options.add("--seconds", plan.seconds_max, "After which a run counts as failed").between(1, 3600);
  options.add("--only", plan.only, "Only operations whose name, or \"NAME, THINGS\", contains one of these").verbatim();
  options.add("--json", plan.json, "Also write the figures to this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    return sweep_all(plan) ? 0 : 1;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "sweep: {}\n", problem.what());
    return 1;
  }
}
