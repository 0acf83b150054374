// SPDX-License-Identifier: Apache-2.0
// The distances between the hosts of a simulated machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace nacre::machine {

/// The wiring between hosts, reduced to path lengths. Immutable; any thread.
class topology {
 public:
  virtual ~topology() = default;

  /// Returns the length of the path between two hosts: 0 from a host to itself, 1 between nearest neighbours, equal in
  /// both directions.
  [[nodiscard]] virtual std::uint32_t hops(std::uint32_t source, std::uint32_t target) const noexcept = 0;

 protected:
  topology() = default;
  topology(const topology&) = default;
  topology& operator=(const topology&) = default;
};

enum class topology_kind : std::uint8_t {
  flat,      ///< every pair of hosts is one hop apart
  mesh,      ///< a grid without wrap-around; routes follow one dimension after the other
  torus,     ///< a grid in which every dimension is a ring; routes take the shorter way round
  fat_tree,  ///< a tree of switches with hosts at the leaves; hops are the switches passed: 1, 3, 5, ...
  dragonfly  ///< groups of routers, each joined to each other one (dragonfly.hpp); hops are the routers passed: 1 to 4
};

struct topology_options {
  topology_kind kind = topology_kind::flat;
  /// Extents of a mesh or torus, the first varying fastest. Empty: three extents that cover the hosts, as close to a
  /// cube as possible.
  std::vector<std::uint32_t> shape{};
  /// Downward ports of each switch of a fat tree, hosts of each router of a dragonfly; at least 2.
  std::uint32_t switch_ports = 16;
};

/// Builds the wiring for `hosts` hosts (at least 1). A grid may have places that no host fills; a shape with fewer
/// places than hosts, a dragonfly too small for them, a zero extent, or switch_ports < 2 throws setup_error.
[[nodiscard]] std::unique_ptr<const topology> make_topology(const topology_options& options, std::uint32_t hosts);

/// Three extents that cover the hosts, as close to a cube as possible.
[[nodiscard]] std::vector<std::uint32_t> near_cube(std::uint32_t hosts);

/// Parses a shape such as "8x8x4"; empty text is an empty shape. Throws setup_error for any other text.
[[nodiscard]] std::vector<std::uint32_t> parse_shape(std::string_view text);

}  // namespace nacre::machine
