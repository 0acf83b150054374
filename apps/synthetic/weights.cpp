// SPDX-License-Identifier: Apache-2.0
// The pattern of PREMA's figure 7a, and list schedules.
#include "weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <queue>
#include <string>

#include <fmt/format.h>
#include <nacre/error.hpp>
#include <nacre/rng.hpp>
#include <nlohmann/json.hpp>

namespace synthetic {

std::vector<std::uint32_t> heavy_counts(const options& asked) {
  constexpr std::array tenths{7u, 3u, 6u, 4u, 5u};  // of a loaded core's objects; half of them on average
  const std::uint32_t each = asked.objects_a_core;
  const auto wanted = static_cast<std::uint64_t>(std::lround(0.2 * each * asked.cores));
  const std::uint32_t loaded = std::max(1u, (2 * asked.cores + 2) / 5);
  std::vector<std::uint32_t> counts(asked.cores, 0);
  std::uint64_t sum = 0;
  for (std::uint32_t core = 0; core < loaded; ++core) {
    const std::uint64_t left = wanted - sum;
    counts[core] = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, each * tenths[core % tenths.size()] / 10));
    sum += counts[core];
  }
  for (std::uint32_t core = loaded; sum < wanted; core = (core + 1) % asked.cores) {  // what rounding has left over
    if (counts[core] == each) continue;
    ++counts[core];
    ++sum;
  }
  return counts;
}

namespace {

/// An array of numbers, or of objects with a number "seconds", as mesh3d --costs writes it.
std::vector<double> read_recorded(const std::string& name) {
  std::ifstream file(name);
  const nlohmann::json all = nlohmann::json::parse(file, nullptr, false);
  std::vector<double> seconds;
  for (const nlohmann::json& each : all.is_array() ? all : nlohmann::json::array()) {
    const nlohmann::json& cost = each.is_object() && each.contains("seconds") ? each.at("seconds") : each;
    if (!cost.is_number() || !(cost.get<double>() > 0 && cost.get<double>() < 1e9)) break;
    seconds.push_back(cost);
  }
  if (!seconds.empty() && seconds.size() == all.size()) return seconds;
  throw nacre::setup_error({name + " holds no costs",
                            "it is an array of JSON, of positive seconds or of objects that have \"seconds\"",
                            "write one with mesh3d --costs"});
}

/// The recorded costs, multiplied so that all cores together have what was asked for.
std::vector<double> recorded_weights(const options& asked) {
  constexpr std::size_t objects_a_core_max = 1024;  // as --objects; each takes memory for its messages
  std::vector<double> seconds = read_recorded(asked.recorded);
  if (asked.cores != 0 && seconds.size() > objects_a_core_max * asked.cores) {  // 0: not known yet
    throw nacre::setup_error(
        {fmt::format("{} holds {} costs for {} cores", asked.recorded, seconds.size(), asked.cores),
         fmt::format("a core has at most {} objects", objects_a_core_max),
         "take more ranks or workers, or record a mesh of fewer subdomains"});
  }
  if (asked.core_seconds == 0) return seconds;
  const double factor = asked.core_seconds * asked.cores / std::accumulate(seconds.begin(), seconds.end(), 0.0);
  for (double& each : seconds) each *= factor;
  return seconds;
}

}  // namespace

std::vector<double> weights(const options& asked) {
  if (!asked.recorded.empty()) return recorded_weights(asked);
  nacre::rng random(asked.seed);
  std::vector<double> seconds;
  for (const std::uint32_t heavy : heavy_counts(asked)) {
    for (std::uint32_t object = 0; object < asked.objects_a_core; ++object) {
      // The heavy ones of a core lie among the others at even distances.
      const bool is_heavy = (object + 1) * heavy / asked.objects_a_core != object * heavy / asked.objects_a_core;
      const double average = asked.light_seconds * (is_heavy ? asked.heavy_factor : 1);
      seconds.push_back(average * (1 + asked.spread * (2 * random.uniform() - 1)));
    }
  }
  return seconds;
}

double longest_first(std::vector<double> seconds, std::uint32_t cores) {
  std::sort(seconds.begin(), seconds.end(), std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at(std::greater<>(),
                                                                           std::vector<double>(cores, 0.0));
  double last = 0;
  for (const double each : seconds) {
    const double end = free_at.top() + each;
    free_at.pop();
    free_at.push(end);
    last = std::max(last, end);
  }
  return last;
}

span_of_cores placed(const std::vector<double>& seconds, std::uint32_t cores) {
  std::vector<double> sums(cores, 0);
  for (std::size_t k = 0; k < seconds.size(); ++k) sums[core_of(k, seconds.size(), cores)] += seconds[k];
  const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
  return {*least, *most};
}

}  // namespace synthetic
