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

/// Whether an object keeps a worker busy for longer than its migration does, as far as that is known.
[[nodiscard]] inline bool worth_moving(const object_load& each) noexcept {
  return !(each.seconds > 0) || each.seconds >= each.migration_cost;
}

/// The objects of a rank that wait for a worker. Its *surplus* are those that its own idle workers will not take.
class surplus {
 public:
  /// Looks at all objects of the rank; what the methods below say is of that moment.
  void look(balancer_host& host);

  /// How many objects the rank can spare.
  [[nodiscard]] std::size_t spare() const noexcept {
    return waiting_.size() - std::min(waiting_.size(), idle_ - std::min(idle_, staying_));
  }
  /// More workers are idle than objects wait for them.
  [[nodiscard]] bool needy() const noexcept { return waiting_.size() + staying_ < idle_; }
  /// The sum over all objects of the rank, those that run too.
  [[nodiscard]] double total_load() const noexcept { return total_; }
  /// Those that wait and are worth moving, the `count` heaviest in front; loads are sane.
  [[nodiscard]] std::span<const object_load> heaviest(std::size_t count);

  /// Looks, and deals the surplus like cards, heaviest first: to the ranks of `line` in their order, then to the own
  /// rank, and round again; at most `objects_max` to each. Returns how many of the line got any; they are its first.
  std::size_t deal(balancer_host& host, std::span<const rank_id> line, std::size_t objects_max);

 private:
  std::vector<object_load> waiting_;  // that are worth moving
  std::size_t staying_ = 0;           // those that wait and are not
  std::size_t idle_ = 0;
  double total_ = 0;
};

}  // namespace nacre::balance
