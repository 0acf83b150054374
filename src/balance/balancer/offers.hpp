// SPDX-License-Identifier: Apache-2.0
// Which of a rank's objects to give to a certain other rank.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// The least part of an object's load that another one has which is about as heavy.
inline constexpr double about_as_heavy = 0.8;

/// What traffic costs when it is between ranks, in messages without content. Not negative.
[[nodiscard]] double traffic_weight(const object_traffic& of) noexcept;

/// Objects that a rank could give away. Without communication the heaviest is always taken first.
class offers {
 public:
  /// `objects`: heaviest first.
  offers(balancer_host& host, std::span<const object_load> objects, bool by_communication);

  /// Takes out, of the heaviest and those about as heavy, the object for which the talk with objects on `receiver`
  /// exceeds that with objects here by most; the first of those that are equal. Not when all are gone.
  object_load take(rank_id receiver);
  /// An object goes there; its acquaintances are told.
  void note_move(object_id object, rank_id to) { moved_[object] = to; }

 private:
  struct offer {
    object_load object;
    std::vector<object_traffic> talks;
  };
  [[nodiscard]] double gain(const offer& of, rank_id receiver) const;

  rank_id here_;
  std::vector<offer> left_;
  std::unordered_map<object_id, rank_id> moved_;
};

}  // namespace nacre::balance
