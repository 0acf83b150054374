// SPDX-License-Identifier: Apache-2.0
// Which objects should move when all loads are known: as few as can be, and near to whom they talk to.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// What one object has sent another one; see traffic_weight (offers.hpp).
struct refine_talk {
  object_id object;
  object_id partner;
  rank_id where;  ///< the partner is, unless a rank reports it as movable
  double weight = 0;
};
/// What one rank tells the coordinator.
struct refine_report {
  double load = 0;                   ///< of all its objects, those that run too
  std::vector<object_load> movable;  ///< those that do not run and have a load, the heaviest
  std::vector<refine_talk> talks;    ///< of those that are movable; may be empty
  double measured_seconds = 0;       ///< that messages will take which wait for objects that have been measured
  double measured_messages = 0;      ///< how many these are
};
struct refine_move {
  object_id object;
  rank_id from;
  rank_id to;
};

/// Takes objects from ranks that are above the average by more than the part `tolerance`, heaviest rank first, and
/// gives them to the lightest. An object is taken only if the receiver then has less than the giver had; one that
/// leaves nobody above the bound is preferred. No object moves twice. In the result no rank above the bound has a
/// movable object that the lightest rank could take under that condition.
///
/// Where reports tell of talks: of objects that are about as heavy, and of ranks that stay within the bound, the pair
/// is taken that brings most talk into a rank; but only if in the end less talk is between ranks than without, and the
/// heaviest rank is within the bound or no heavier than without.
[[nodiscard]] std::vector<refine_move> refine(const std::vector<refine_report>& ranks, double tolerance);

}  // namespace nacre::balance
