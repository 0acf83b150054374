// SPDX-License-Identifier: Apache-2.0
// Medians over runs.
#include "runs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include "backplane/flow/flow_control.hpp"

namespace incast {
namespace {

[[nodiscard]] spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {.median = values[values.size() / 2], .least = values.front(), .most = values.back()};
}

/// What `automatic` means for these ranks.
[[nodiscard]] std::string choice_of(const plan& plan) {
  struct nobody final : nacre::flow::flow_host {
    void send(nacre::rank_id, const nacre::flow::message&) override {}
    void transmit(nacre::rank_id, nacre::flow_policy, const nacre::flow::token_stamp&) override {}
  } host;
  const nacre::flow::flow_control flow(nacre::rank_id(0), plan.senders + 1, {}, host);
  const nacre::flow::choice choice = flow.choose(nacre::flow_policy::automatic);
  return std::string(nacre::name_of(choice.policy)) + ", for " + std::string(choice.reason);
}

}  // namespace

std::string_view name_of(coordination coordination) noexcept {
  constexpr std::array<std::string_view, 6> names{"none", "token", "credit", "slot", "auto", "tcp"};
  return names[static_cast<std::size_t>(coordination)];
}

nlohmann::ordered_json json_of(const spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

measured measure(const plan& manner, network network, int runs) {
  std::vector<outcome> all;
  for (int run = 0; run < runs; ++run) {
    plan one = manner;
    one.seed += static_cast<std::uint64_t>(run);
    all.push_back(network == network::sim ? simulate(one) : measure_star(one));
  }
  const auto over_runs = [&](auto member) {
    std::vector<double> values;
    for (const outcome& each : all) values.push_back(static_cast<double>(each.*member));
    return spread_of(std::move(values));
  };
  return {.goodput_fraction = over_runs(&outcome::goodput_fraction),
          .drops = over_runs(&outcome::drops),
          .fairness = over_runs(&outcome::fairness),
          .token_us = over_runs(&outcome::token_us),
          .round_ratio = over_runs(&outcome::round_ratio),
          .round_p99_ms = over_runs(&outcome::round_p99_ms),
          .retries = over_runs(&outcome::retries),
          .megabits = over_runs(&outcome::bits_per_second),
          .choice = choice_of(manner)};
}

}  // namespace incast
