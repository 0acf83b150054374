// SPDX-License-Identifier: Apache-2.0
// The pattern of PREMA's figure 7a, and list schedules.
#include "weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include <nacre/rng.hpp>

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

std::vector<double> weights(const options& asked) {
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

span_of_cores placed(const std::vector<double>& seconds, std::uint32_t objects_a_core) {
  span_of_cores result{1e300, 0};
  for (auto first = seconds.begin(); first != seconds.end(); first += objects_a_core) {
    const double sum = std::accumulate(first, first + objects_a_core, 0.0);
    result.least = std::min(result.least, sum);
    result.most = std::max(result.most, sum);
  }
  return result;
}

}  // namespace synthetic
