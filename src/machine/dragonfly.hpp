// SPDX-License-Identifier: Apache-2.0
// The paths of a balanced dragonfly (Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly Topology,
// ISCA 2008).
#pragma once

#include <array>
#include <cstdint>

namespace nacre::machine {

/// Routers in the order in which a packet passes them, counted through all groups.
struct dragonfly_way {
  std::array<std::uint64_t, 4> routers{};
  std::uint32_t count = 0;
};

/// Each router has `ports` hosts and `ports` links to other groups. A group is 2 * `ports` routers, each joined to each
/// other one. Each pair of groups is joined by one link: link k of group i leads to group k, or to k + 1 from k = i on.
/// Hosts fill router after router, and group after group.
class dragonfly {
 public:
  /// `ports` is at least 1.
  explicit constexpr dragonfly(std::uint32_t ports) noexcept : ports_(ports) {}

  /// Hosts for which there are links: (2 ports^2 + 1) groups of 2 ports^2 hosts.
  [[nodiscard]] constexpr std::uint64_t hosts_max() const noexcept {
    const std::uint64_t of_a_group = 2ULL * ports_ * ports_;
    return of_a_group * (of_a_group + 1);
  }
  /// The routers on the shortest path by at most one link between groups: 0 from a host to itself, 1 to 4 else.
  [[nodiscard]] constexpr std::uint32_t hops(std::uint32_t source, std::uint32_t target) const noexcept {
    return way(source, target).count;
  }
  /// The routers on that path.
  [[nodiscard]] constexpr dragonfly_way way(std::uint32_t source, std::uint32_t target) const noexcept {
    dragonfly_way passed;
    const auto pass = [&](std::uint64_t router) {
      if (passed.count == 0 || passed.routers[passed.count - 1] != router) passed.routers[passed.count++] = router;
    };
    if (source == target) return passed;
    const std::uint64_t start = source / ports_, end = target / ports_;
    const std::uint64_t routers = 2ULL * ports_, local_count = start / routers, present_count = end / routers;
    pass(start);
    if (local_count != present_count) {
      pass(local_count * routers + router_to(present_count, local_count));
      pass(present_count * routers + router_to(local_count, present_count));
    }
    pass(end);
    return passed;
  }

 private:
  /// The router of group `index` that has the link to `group`, counted within its group.
  [[nodiscard]] constexpr std::uint64_t router_to(std::uint64_t group, std::uint64_t index) const noexcept {
    return (group < index ? group : group - 1) / ports_;
  }

  std::uint32_t ports_;
};

}  // namespace nacre::machine
