// SPDX-License-Identifier: Apache-2.0
// Plans moves when all loads are known: few objects move, and near to the objects that they talk to.
// Used by greedy_refine_balancer.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// Traffic from one object to another; the weight is traffic_weight (offers.hpp).
struct refine_talk {
  object_id object;
  object_id partner;
  rank_id partner_rank;  ///< the partner's rank, unless a rank reports the partner as movable
  double weight = 0;
};
/// The report of one rank to the coordinator.
struct refine_report {
  double load = 0;                   ///< of all its objects, running ones included
  std::vector<object_load> movable;  ///< the heaviest objects that have a load and do not run
  std::vector<refine_talk> talks;    ///< of the movable objects; may be empty
  double measured_seconds = 0;       ///< expected time of the messages that wait for measured objects
  double measured_messages = 0;      ///< number of these messages
};
struct refine_move {
  object_id object;
  rank_id source;
  rank_id target;
};

/// The bound of a rank is the average load times (1 + `tolerance`). Objects move from ranks above the bound, heaviest
/// rank first, to the lightest rank. An object moves only if the receiver then has less than the giver had. Objects
/// that leave the receiver within the bound are preferred. No object moves twice. In the result no rank above the bound
/// has a movable object that the lightest rank could take under that condition.
///
/// If reports have talks: among objects that are about as heavy, and receivers that stay within the bound, the pair is
/// chosen that brings the most traffic inside one rank. That plan is used only if it ends with less traffic between
/// ranks than the plan without talks, and its heaviest rank is within the bound or no heavier than in that plan.
[[nodiscard]] std::vector<refine_move> refine(const std::vector<refine_report>& ranks, double tolerance);

}  // namespace nacre::balance
