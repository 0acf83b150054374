// SPDX-License-Identifier: Apache-2.0
// Runs searches and keeps what they took.
#include "uts_study/parts/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "search.hpp"
#include "share.hpp"
#include "steal.hpp"

namespace study {

laboratory::laboratory(nacre::config machine, const uts::simulated_costs& costs, std::vector<known_tree> trees)
    : machine_(std::move(machine)), costs_(costs), trees_(std::move(trees)) {
  for (known_tree& each : trees_) {
    const uts::tree all(each.params);
    uts::search whole = uts::search::of_whole(all);
    whole.advance(all, uts::select_sha1(uts::sha1_choice::automatic), UINT64_MAX);
    each.counts = whole.counts();
  }
}

double laboratory::speed(const setting& setting) {
  if (const auto known = measured_.find(setting); known != measured_.end()) return known->second;
  nacre::config machine = machine_;
  machine.set("transport", "sim");
  machine.set("ranks", std::to_string(setting.ranks));
  machine.set("workers", "1");
  machine.set("balancer", "none");
  machine.set("seed", std::to_string(setting.seed));
  const uts::rank_search_options options{.params = trees_[setting.tree].params,
                                         .chunk = setting.chunk,
                                         .interval = setting.interval,
                                         .patient = false,
                                         .costs = costs_};
  uts::search_result search_result;
  const int failed = nacre::run(machine, [&](nacre::runtime& rt) {
    auto result =
        setting.method == mode::steal ? uts::search_by_stealing(rt, options) : uts::search_by_sharing(rt, options);
    if (rt.rank().value() == 0) search_result = result;
  });
  if (failed != 0 || search_result.counts != trees_[setting.tree].counts) {
    throw std::runtime_error("the search counts wrong: " + text(*this, setting));
  }
  results_[setting] = search_result;
  return measured_[setting] = search_result.nodes_per_second();
}

double laboratory::median_speed(setting setting, std::uint64_t seeds) {
  std::vector<double> all;
  for (setting.seed = 1; setting.seed <= seeds; ++setting.seed) all.push_back(speed(setting));
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

std::string text(const laboratory& in, const setting& setting) {
  const auto number = [](const std::optional<std::uint32_t>& n) { return n ? std::to_string(*n) : "auto"; };
  return fmt::format("{}, {}, {} ranks, chunk {}, interval {}", in.trees()[setting.tree].name,
                     setting.method == mode::steal ? "stealing" : "sharing", setting.ranks, number(setting.chunk),
                     number(setting.interval));
}

}  // namespace study
