// SPDX-License-Identifier: Apache-2.0
// Keeps samples in the order of rungs, and condenses those of several runs.
#include "figures.hpp"

#include <algorithm>

namespace ladder {
namespace {

spread at(const std::map<std::size_t, std::vector<double>>& table, std::size_t bytes) {
  const auto match = table.find(bytes);
  return match == table.end() ? spread{} : spread_of(match->second);
}

}  // namespace

spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

spread series::round_trip(std::size_t bytes) const { return at(round_trips, bytes); }
spread series::one_way(std::size_t bytes) const { return at(one_ways, bytes); }

void figures::add(std::string_view transport, std::string_view name, role as, const sample& value,
                  std::string_view unit) {
  auto match = std::find_if(all_.begin(), all_.end(),
                            [&](const series& each) { return each.transport == transport && each.name == name; });
  if (match == all_.end()) {
    all_.push_back(
        {.transport = std::string(transport), .name = std::string(name), .role = as, .unit = std::string(unit)});
    match = all_.end() - 1;
  }
  if (value.round_trip_seconds > 0) match->round_trips[value.bytes].push_back(value.round_trip_seconds);
  if (value.one_way_seconds > 0) match->one_ways[value.bytes].push_back(value.one_way_seconds);
}

figures::best figures::floor_of(const series& rung, std::size_t bytes) const {
  best best;
  const auto improve = [](spread& so_far, const spread& partner) {
    if (!partner.empty() && (so_far.empty() || partner.median < so_far.median)) so_far = partner;
  };
  for (const series& each : all_) {
    if (each.transport != rung.transport || each.role != role::floor || each.unit != rung.unit) continue;
    improve(best.round_trip, each.round_trip(bytes));
    improve(best.one_way, each.one_way(bytes));
  }
  return best;
}

std::vector<std::string> figures::transports() const {
  std::vector<std::string> names;
  for (const series& each : all_) {
    if (std::find(names.begin(), names.end(), each.transport) == names.end()) names.push_back(each.transport);
  }
  return names;
}

}  // namespace ladder
