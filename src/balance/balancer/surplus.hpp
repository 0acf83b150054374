// SPDX-License-Identifier: Apache-2.0
// What a rank could give away, and dealing it to those that wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// A load as a number that can be compared and added, whatever a type declares or a message says.
[[nodiscard]] inline double sane(double load) noexcept { return load >= 0 ? std::min(load, 1e100) : 0; }

/// Whether an object keeps a worker busy for clearly longer than its migration does, as far as that is known. The other
/// rank pays for it, too, and then for messages to those that the object has left.
[[nodiscard]] inline bool worth_moving(const object_load& each) noexcept {
  constexpr double times = 4;
  return !(each.seconds > 0) || each.seconds >= times * each.migration_cost;
}

/// The objects of a rank that wait for a worker. Its *surplus* are those that its own idle workers will not take.
///
/// A look counts what waits, which costs the same however much that is. Only what asks for objects looks at any, at
/// about as many as it may give: it judges by them how many of those that wait are worth moving.
class surplus {
 public:
  /// Counts what waits and who is idle; what the methods below say is of that moment.
  void look(balancer_host& host);

  /// More workers are idle than pieces of work wait for them.
  [[nodiscard]] bool needy() const noexcept { return waiting_ < idle_; }
  /// How many objects the rank could spare if all that waits were worth moving.
  [[nodiscard]] std::size_t spare_at_most() const noexcept { return waiting_ - std::min(waiting_, idle_); }
  /// How many to give at a time, at least so many: guided self-scheduling (Polychronopoulos and Kuck, 1987), an eighth
  /// of a rank's part of what could be spared, so that looks and requests are few beside the objects of a large bag,
  /// and enough is left for those that ask later.
  [[nodiscard]] std::size_t at_a_time(const balancer_host& host, std::size_t least) const;
  /// How many objects the rank can spare, about; it looks at some of them.
  [[nodiscard]] std::size_t spare(balancer_host& host);
  /// Those that wait and are worth moving, at most `count` of what the rank can spare, heavy ones in front; loads are
  /// sane. Valid until the next call.
  [[nodiscard]] std::span<const object_load> heaviest(balancer_host& host, std::size_t count);

  /// Looks, and deals the surplus like cards, heavy ones first: to the ranks of `line` in their order, then to the own
  /// rank, unless much more waits than all can get, and round again; at most `objects_max` to each. Returns how many of
  /// the line got any; they are its first.
  std::size_t deal(balancer_host& host, std::span<const rank_id> line, std::size_t objects_max);
  /// How many objects the last deal gave to that one of the line.
  [[nodiscard]] std::size_t dealt_to(std::size_t nth) const noexcept {
    return dealt_ / parties_ + (nth < dealt_ % parties_ ? 1 : 0);
  }

 private:
  std::size_t sample(balancer_host& host, std::size_t count);

  std::vector<object_load> worthy_;  // of the last sample
  std::size_t waiting_ = 0;
  std::size_t idle_ = 0;
  std::size_t dealt_ = 0;  // by the last deal, those of the own rank too
  std::size_t parties_ = 1;
};

}  // namespace nacre::balance
