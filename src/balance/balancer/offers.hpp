// SPDX-License-Identifier: Apache-2.0
// Chooses which of a rank's objects to give to a certain other rank.
// Used by gossip_balancer, greedy_refine_balancer, refine_plan.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// Two objects are about as heavy as each other if the lighter has at least this part of the heavier one's load.
inline constexpr double about_as_heavy = 0.8;

/// The cost of traffic between ranks, in empty messages. Not negative.
[[nodiscard]] double traffic_weight(const object_traffic& object_traffic) noexcept;

/// Objects that a rank could give away. Without `by_communication` the heaviest is always taken first.
class offers {
 public:
  /// `objects`: heaviest first.
  offers(balancer_host& host, std::span<const object_load> objects, bool by_communication);

  /// Removes and returns an object among the heaviest and those about as heavy. It is the object for which traffic with
  /// objects on `receiver` minus traffic with objects here is greatest; the first of equals. Some must be left.
  object_load take(rank_id receiver);
  /// Notes that an object moves to `target`, for the traffic of its partners.
  void note_move(object_id object, rank_id target) { moved_[object] = target; }

 private:
  struct offer {
    object_load object;
    std::vector<object_traffic> talks;
  };
  [[nodiscard]] double gain(const offer& offer, rank_id receiver) const;

  rank_id rank_;
  std::vector<offer> left_;
  std::unordered_map<object_id, rank_id> moved_;
};

}  // namespace nacre::balance
