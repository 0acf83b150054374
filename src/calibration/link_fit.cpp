// SPDX-License-Identifier: Apache-2.0
// Fits the rows of a link: the simulator without a network says what the runtime takes, and the rest is the network's.
#include "calibration/link_fit.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nacre/nacre.hpp>

#include "calibration/rungs.hpp"

namespace nacre::calibration {
namespace {

[[nodiscard]] std::string prefix_of(rank_place place) {
  return place == rank_place::own_process ? "sim." : "sim.local_";
}

/// A network that takes no time.
[[nodiscard]] cost_rows free_link(rank_place place) {
  const std::string prefix = prefix_of(place);
  return {{prefix + "latency", "0ns"}, {prefix + "send_overhead", "0ns"}, {prefix + "receive_overhead", "0ns"},
          {prefix + "gap", "0ns"},     {prefix + "bandwidth", "1000000"}, {prefix + "jitter", "0"}};
}

}  // namespace

std::vector<sample> measure_messages(const config& job, const std::vector<std::size_t>& sizes) {
  std::vector<sample> result;
  const int code = climb(
      job, sizes, [](std::string_view name) { return name == rung::object; },
      [&](std::string_view, const sample& value) { result.push_back(value); });
  if (code != 0) throw std::runtime_error("the ranks that exchange messages failed");
  return result;
}

std::vector<sample> predict_messages(const cost_rows& rows, rank_place place, const std::vector<std::size_t>& sizes) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  configuration.set("balancer", "none");
  if (place == rank_place::same_process) configuration.set("sim.ranks_per_host", "2");
  for (const auto& [name, value] : rows) configuration.set(name, value);
  return measure_messages(configuration, sizes);
}

cost_rows fit_link(const std::vector<sample>& measured, rank_place place, const cost_rows& runtime) {
  if (measured.size() < 2) throw std::runtime_error("a network is fitted to messages of two sizes or more");
  const sample& small = measured.front();
  const sample& large = measured.back();
  cost_rows rows = free_link(place);
  cost_rows all = rows;
  all.insert(runtime.begin(), runtime.end());
  const sample of_runtime = predict_messages(all, place, {small.bytes}).front();
  const std::string prefix = prefix_of(place);
  rows[prefix + "latency"] = duration_text((small.round_trip_seconds - of_runtime.round_trip_seconds) / 2 * 1e9);
  const bool limited = small.one_way_seconds > of_runtime.one_way_seconds;
  rows[prefix + "gap"] = duration_text(limited ? small.one_way_seconds * 1e9 : 0);
  const double more_seconds = large.one_way_seconds - small.one_way_seconds;
  if (more_seconds > 0) {
    const double gigabytes = static_cast<double>(large.bytes - small.bytes) / more_seconds * 1e-9;
    rows[prefix + "bandwidth"] = std::to_string(std::clamp(gigabytes, 0.001, 1e6));
  }
  return rows;
}

}  // namespace nacre::calibration
