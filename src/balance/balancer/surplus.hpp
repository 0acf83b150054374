// SPDX-License-Identifier: Apache-2.0
// The waiting objects that a rank could give away, and their distribution to other ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

#include "mobile/life/migration_costs.hpp"

namespace nacre::balance {

/// Makes a load comparable and safe to add: from 0 to 1e100, and 0 for NaN. Objects and messages may state any number.
[[nodiscard]] inline double sane(double load) noexcept { return load >= 0 ? std::min(load, 1e100) : 0; }

/// Whether an object has enough work waiting, as far as its size is known; balancer_host::migrate_if_worth knows it.
[[nodiscard]] inline bool worth_moving(const object_load& each) noexcept {
  return worth_migration(each.seconds, each.migration_cost);
}

/// The *surplus* of a rank is the waiting objects that its own idle workers will not take.
///
/// look() only counts, at a cost that does not grow with the number of waiting objects. spare(), heaviest() and
/// distribute() also look at objects, at about as many as they may give, and estimate from these how many are worth
/// moving.
class surplus {
 public:
  /// Counts waiting items and idle workers. The methods below answer for that moment.
  void look(balancer_host& host);

  /// Whether there are more idle workers than waiting pieces of work.
  [[nodiscard]] bool needy() const noexcept { return waiting_ < idle_; }
  /// Upper bound of the surplus: exact if all waiting items were worth moving.
  [[nodiscard]] std::size_t spare_at_most() const noexcept { return waiting_ - std::min(waiting_, idle_); }
  /// The number of objects to give at a time, at least `least`. Guided self-scheduling (Polychronopoulos and Kuck,
  /// 1987): an eighth of one rank's part of spare_at_most(), at most 128. So a large bag needs few looks and requests,
  /// and enough is left for ranks that ask later.
  [[nodiscard]] std::size_t at_a_time(const balancer_host& host, std::size_t least) const;
  /// An estimate of the surplus, from a look at some of its objects.
  [[nodiscard]] std::size_t spare(balancer_host& host);
  /// At most `count` objects of the surplus that are worth moving, heaviest first; their loads are sane(). Valid until
  /// the next call.
  [[nodiscard]] std::span<const object_load> heaviest(balancer_host& host, std::size_t count);

  /// Looks, and hands out the surplus round robin, heaviest object first, at most `objects_max` to each rank: to the
  /// ranks of `line` in order and then to the own rank, and again. If at least twice as much is spare as the line can
  /// take, this rank keeps no turn for itself. Returns how many ranks got objects; they are the first of `line`.
  std::size_t distribute(balancer_host& host, std::span<const rank_id> line, std::size_t objects_max);
  /// The number of objects that the last distribute() gave to the rank at index `nth` of the line.
  [[nodiscard]] std::size_t given_to(std::size_t nth) const noexcept {
    return distributed_ / receivers_ + (nth < distributed_ % receivers_ ? 1 : 0);
  }

 private:
  std::size_t sample(balancer_host& host, std::size_t count);

  std::vector<object_load> worthy_;  // of the last sample
  std::size_t waiting_ = 0;
  std::size_t idle_ = 0;
  std::size_t distributed_ = 0;  // objects that the last distribute() handed out, the own rank's included
  std::size_t receivers_ = 1;
};

}  // namespace nacre::balance
