// SPDX-License-Identifier: Apache-2.0
// Reports to a rank that plans for all, and the moves that it orders, as bytes.
// Used by greedy_refine_balancer and adaptive_balancer.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/balancer.hpp>

#include "balance/balancer/offers.hpp"
#include "balance/balancer/refine_plan.hpp"
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

struct wire_object {
  std::uint64_t object = 0;
  double load = 0;           ///< in a report
  std::uint32_t target = 0;  ///< in an order

  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, load, target);
  }
};

/// Messages that an object has sent to another one, as a weight.
struct wire_talk {
  std::uint64_t object = 0;
  std::uint64_t partner = 0;
  std::uint32_t partner_rank = 0;
  double weight = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, partner, partner_rank, weight);
  }
};

/// Appends to `talks` what `object`, which is here, has sent to others.
inline void append_talks(balancer_host& host, object_id object, std::vector<refine_talk>& talks) {
  for (const object_traffic& each : host.traffic(object)) {
    talks.push_back({object, each.partner, each.where, traffic_weight(each)});
  }
}

inline void write_report(const refine_report& report, std::vector<wire_object>& objects,
                         std::vector<wire_talk>& talks) {
  for (const object_load& each : report.movable) objects.push_back({each.object.value(), each.load, 0});
  for (const refine_talk& each : report.talks) {
    talks.push_back({each.object.value(), each.partner.value(), each.partner_rank.value(), each.weight});
  }
}

/// Reads a peer's report; loads and weights become such that can be computed with.
inline void read_report(refine_report& report, const std::vector<wire_object>& objects,
                        const std::vector<wire_talk>& talks) {
  for (const wire_object& each : objects) {
    report.movable.push_back({.object = object_id::from_value(each.object), .load = sane(each.load)});
  }
  for (const wire_talk& each : talks) {
    report.talks.push_back({object_id::from_value(each.object), object_id::from_value(each.partner),
                            rank_id{each.partner_rank}, sane(each.weight)});
  }
}

/// The orders for each of `ranks` ranks, by the rank that gives.
[[nodiscard]] inline std::vector<std::vector<wire_object>> moves_by_rank(const std::vector<refine_move>& moves,
                                                                         std::uint32_t ranks) {
  std::vector<std::vector<wire_object>> orders(ranks);
  for (const refine_move& each : moves) {
    orders[each.source.value()].push_back({each.object.value(), 0, each.target.value()});
  }
  return orders;
}

}  // namespace nacre::balance
