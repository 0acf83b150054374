// SPDX-License-Identifier: Apache-2.0
// The wirings: flat, grids, fat trees, dragonflies.
#include "machine/topology.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>
#include "machine/dragonfly.hpp"

namespace nacre::machine {

namespace {

class flat_topology final : public topology {
 public:
  std::uint32_t hops(std::uint32_t source, std::uint32_t target) const noexcept override {
    return source == target ? 0 : 1;
  }
};

enum class border { open, joined };

/// A mesh (open borders) or a torus (joined borders). The distance is the sum over the dimensions.
class grid_topology final : public topology {
 public:
  grid_topology(std::vector<std::uint32_t> shape, border edges) noexcept : shape_(std::move(shape)), edges_(edges) {}

  std::uint32_t hops(std::uint32_t source, std::uint32_t target) const noexcept override {
    std::uint32_t sum = 0;
    for (const std::uint32_t extent : shape_) {
      const std::uint32_t a = source % extent;
      const std::uint32_t b = target % extent;
      const std::uint32_t straight = a > b ? a - b : b - a;
      sum += edges_ == border::open ? straight : std::min(straight, extent - straight);
      source /= extent;
      target /= extent;
    }
    return sum;
  }

 private:
  std::vector<std::uint32_t> shape_;
  border edges_;
};

class fat_tree_topology final : public topology {
 public:
  explicit fat_tree_topology(std::uint32_t ports) noexcept : ports_(ports) {}

  std::uint32_t hops(std::uint32_t source, std::uint32_t target) const noexcept override {
    std::uint32_t levels = 0;
    for (; source != target; ++levels) {
      source /= ports_;
      target /= ports_;
    }
    return levels == 0 ? 0 : 2 * levels - 1;
  }

 private:
  std::uint32_t ports_;
};

class dragonfly_topology final : public topology {
 public:
  explicit dragonfly_topology(std::uint32_t ports) noexcept : wiring_(ports) {}
  std::uint32_t hops(std::uint32_t source, std::uint32_t target) const noexcept override {
    return wiring_.hops(source, target);
  }

 private:
  dragonfly wiring_;
};

void expect_ports(std::uint32_t ports, const char* reason) {
  if (ports < 2) throw setup_error({"a switch has fewer than 2 ports down", reason, "use 2 or more"});
}

void expect_room(const dragonfly& wiring, std::uint32_t ports, std::uint32_t hosts) {
  if (hosts <= wiring.hosts_max()) return;
  throw setup_error({"a dragonfly of " + std::to_string(ports) + " ports joins " + std::to_string(wiring.hosts_max()) +
                         " hosts, not " + std::to_string(hosts),
                     "each pair of groups needs a link", "give its routers more ports"});
}

/// A grid, which a machine file gives with every topology, must have a place for each host.
void expect_places(const topology_options& options, std::uint32_t hosts) {
  if (options.shape.empty()) return;
  std::uint64_t places = 1;
  for (const std::uint32_t extent : options.shape) {
    if (extent == 0) throw setup_error({"an extent of the grid is 0", "a dimension has at least one place", "use 1"});
    places = std::min<std::uint64_t>(places * extent, std::uint64_t{1} << 32);
  }
  if (places < hosts) {
    throw setup_error({"the grid has " + std::to_string(places) + " places for " + std::to_string(hosts) + " hosts",
                       "every host needs a place",
                       "enlarge the shape (or the grid of the machine file), leave it empty to have it chosen, or put "
                       "several ranks on a host (sim.ranks_per_host)"});
  }
}

[[nodiscard]] std::vector<std::uint32_t> fitting_shape(const topology_options& options, std::uint32_t hosts) {
  expect_places(options, hosts);
  return options.shape.empty() ? near_cube(hosts) : options.shape;
}

}  // namespace

std::vector<std::uint32_t> near_cube(std::uint32_t hosts) {
  const auto ceil_div = [](std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; };
  std::uint32_t x = 1;
  while (std::uint64_t{x} * x * x < hosts) ++x;
  const std::uint32_t plane = ceil_div(hosts, x);
  std::uint32_t y = 1;
  while (std::uint64_t{y} * y < plane) ++y;
  return {x, y, ceil_div(plane, y)};
}

std::unique_ptr<const topology> make_topology(const topology_options& options, std::uint32_t hosts) {
  NACRE_EXPECT(hosts >= 1, "a machine has at least one host");
  switch (options.kind) {
    case topology_kind::mesh:
      return std::make_unique<grid_topology>(fitting_shape(options, hosts), border::open);
    case topology_kind::torus:
      return std::make_unique<grid_topology>(fitting_shape(options, hosts), border::joined);
    case topology_kind::fat_tree:
      expect_ports(options.switch_ports, "its tree would never widen");
      expect_places(options, hosts);
      return std::make_unique<fat_tree_topology>(options.switch_ports);
    case topology_kind::dragonfly:
      expect_ports(options.switch_ports, "its groups would be single switches");
      expect_places(options, hosts);
      expect_room(dragonfly(options.switch_ports), options.switch_ports, hosts);
      return std::make_unique<dragonfly_topology>(options.switch_ports);
    case topology_kind::flat:
      break;
  }
  return std::make_unique<flat_topology>();
}

std::vector<std::uint32_t> parse_shape(std::string_view text) {
  std::vector<std::uint32_t> shape;
  const char* position = text.data();
  const char* const end = position + text.size();
  while (position != end) {
    std::uint32_t extent = 0;
    const auto [rest, error] = std::from_chars(position, end, extent);
    const bool more = rest != end && *rest == 'x' && rest + 1 != end;
    if (error != std::errc{} || (rest != end && !more)) {
      throw setup_error({"'" + std::string(text) + "' is not a shape", "it gives the extents of a grid",
                         "write numbers with x between them, such as 8x8x4"});
    }
    shape.push_back(extent);
    position = more ? rest + 1 : end;
  }
  return shape;
}

}  // namespace nacre::machine
