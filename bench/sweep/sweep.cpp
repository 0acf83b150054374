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
  [[nodiscard]] bool fine(const sweep::operation& what, const plan& how) const {
    return below(std::max(how.exponent_max, what.exponent_max));
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
finding measure(const sweep::operation& what, const plan& how) {
  finding found;
  for (std::uint64_t n = what.least; n <= std::min(what.most, how.most); n *= 10) {
    std::optional<double> best;
    for (int run = 0; run < how.runs; ++run) {
      const auto seconds = sweep::measured_apart([&] { return what.measure(n); }, how.seconds_max);
      if (!seconds) break;
      best = best ? std::min(*best, *seconds) : *seconds;
      if (*seconds > how.seconds_max / 10) break;  // that long, and noise matters little
    }
    if (!best) {
      found.failed_at = n;
      break;
    }
    found.points.push_back({n, *best});
  }
  found.exponent = sweep::exponent_of(found.points, how.least_seconds);
  return found;
}

std::string verdict(const sweep::operation& what, const finding& found, const plan& how) {
  if (found.below(how.exponent_max)) return {};
  if (found.failed_at != 0) return fmt::format("FAILED with {}", found.failed_at);
  return found.fine(what, how) ? what.reason : "GROWS TOO FAST";
}

void print(const sweep::operation& what, const finding& found, const plan& how) {
  std::string times;
  for (const sweep::point& each : found.points) {
    times += fmt::format("{:>11}", fmt::format("{:.1f} ns", each.seconds / static_cast<double>(each.n) * 1e9));
  }
  fmt::print("{:40}{:28}{:>6}  {:44} {}\n", what.name, what.things,
             found.exponent ? fmt::format("{:.2f}", *found.exponent) : "-", times, verdict(what, found, how));
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const sweep::operation& what, const finding& found, const plan& how) {
  auto points = nlohmann::ordered_json::array();
  for (const sweep::point& each : found.points) points.push_back({{"n", each.n}, {"seconds", each.seconds}});
  nlohmann::ordered_json one{{"operation", what.name},
                             {"things", what.things},
                             {"points", points},
                             {"fine", found.fine(what, how)},
                             {"reason", what.reason}};
  if (found.exponent) one["exponent"] = *found.exponent;
  if (found.failed_at != 0) one["failed_at"] = found.failed_at;
  return one;
}

/// True when each is in proportion, or has a reason.
bool sweep_all(const plan& how) {
  fmt::print(
      "Processor time of n things, best of {} runs; the exponent of n by the last three of 10^2, 10^3, ...; ns for "
      "each\n{:40}{:28}{:>6}\n",
      how.runs, "operation", "n", "n^");
  auto all = nlohmann::ordered_json::array();
  bool good = true;
  for (const sweep::operation& what : all_operations()) {
    const auto fits = [&](const std::string& part) {
      return (what.name + ", " + what.things).find(part) != std::string::npos;
    };
    if (!how.only.empty() && std::none_of(how.only.begin(), how.only.end(), fits)) continue;
    const finding found = measure(what, how);
    print(what, found, how);
    all.push_back(json_of(what, found, how));
    good = good && found.fine(what, how);
  }
  bench::write_json(how.json, all);
  return good && !all.empty();
}

}  // namespace

int main(int argc, char** argv) {
  plan how;
  nacre::program_options options(
      "sweep",
      "The exponent by which the cost of each operation grows with what it is about. The exit "
      "code is 1 if one grows faster than it may.");
  options.add("--most", how.most, "Things at most; some operations have a lower bound of their own")
      .between(1000, 10'000'000);
  options.add("--runs", how.runs, "Runs of each, of which the best counts").between(1, 100);
  options.add("--exponent", how.exponent_max, "What an exponent may be without a stated reason").between(1, 3);
  options.add("--seconds", how.seconds_max, "After which a run counts as failed").between(1, 3600);
  options.add("--only", how.only, "Only operations whose name, or \"NAME, THINGS\", contains one of these").verbatim();
  options.add("--json", how.json, "Also write the figures to this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    return sweep_all(how) ? 0 : 1;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "sweep: {}\n", problem.what());
    return 1;
  }
}
