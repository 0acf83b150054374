// SPDX-License-Identifier: Apache-2.0
// Choice of the object that talks most to a receiver's objects.
#include "balance/balancer/offers.hpp"

#include <cstddef>

#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

double traffic_weight(const object_traffic& object_traffic) noexcept {
  // A message of so many bytes costs twice as much as an empty one, over tcp (docs/balancing.md).
  constexpr double bytes_of_a_message = 16 * 1024;
  return sane(object_traffic.messages) + sane(object_traffic.bytes) / bytes_of_a_message;
}

offers::offers(balancer_host& host, std::span<const object_load> objects, bool by_communication) : rank_(host.rank()) {
  for (const object_load& each : objects) {
    left_.push_back({each, {}});
    if (!by_communication) continue;
    const std::span<const object_traffic> talks = host.traffic(each.object);
    left_.back().talks.assign(talks.begin(), talks.end());
  }
}

object_load offers::take(rank_id receiver) {
  std::size_t best = 0;
  double most = gain(left_.front(), receiver);
  const double enough = left_.front().object.load * about_as_heavy;
  for (std::size_t index = 1; index < left_.size() && left_[index].object.load >= enough; ++index) {
    const double found_value = gain(left_[index], receiver);
    if (found_value <= most) continue;
    best = index;
    most = found_value;
  }
  const object_load taken = left_[best].object;
  left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
  return taken;
}

double offers::gain(const offer& offer, rank_id receiver) const {
  double sum = 0;
  for (const object_traffic& each : offer.talks) {
    const auto moved = moved_.find(each.partner);
    const rank_id rank = moved != moved_.end() ? moved->second : each.where;
    sum += rank == receiver ? traffic_weight(each) : rank == rank_ ? -traffic_weight(each) : 0;
  }
  return sum;
}

}  // namespace nacre::balance
