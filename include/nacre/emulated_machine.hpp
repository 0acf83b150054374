// SPDX-License-Identifier: Apache-2.0
// The machine that the emulator runs programs on: its grid, its threads, and its times.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nacre {

namespace detail {
/// Converts a coordinate to 32 bits. A number out of range becomes the nearest bound, which no grid contains.
template <std::integral Number>
constexpr std::int32_t grid_number(Number number) noexcept {
  using limits = std::numeric_limits<std::int32_t>;
  if (std::cmp_greater(number, limits::max())) return limits::max();
  return std::cmp_less(number, limits::min()) ? limits::min() : static_cast<std::int32_t>(number);
}
}  // namespace detail

/// The place of a node in the grid, or the extents of a grid. Any integer types are accepted for the three numbers.
struct coordinates {
  std::int32_t x = 0, y = 0, z = 0;

  constexpr coordinates() noexcept = default;
  template <std::integral X, std::integral Y, std::integral Z>
  constexpr coordinates(X x_, Y y_, Z z_) noexcept
      : x(detail::grid_number(x_)), y(detail::grid_number(y_)), z(detail::grid_number(z_)) {}

  friend constexpr bool operator==(const coordinates&, const coordinates&) = default;
  friend constexpr auto operator<=>(const coordinates&, const coordinates&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x, y, z);
  }
};

/// The wiring between the nodes of an emulated machine.
enum class emulated_topology : std::uint8_t {
  mesh,      ///< a grid without wrap-around
  torus,     ///< a grid in which each dimension is a ring; a packet takes the shorter way round
  fat_tree,  ///< a tree of switches with the nodes at its leaves, in the order of their numbers
  dragonfly  ///< groups of routers, each group joined to each other one; nodes fill router after router
};

/// How many turns a packet between two nodes pays for.
enum class turn_rule : std::uint8_t {
  once,    ///< one for each packet that leaves its node, as the petaFLOPS emulator charges
  counted  ///< one for each change of dimension on its way, x before y before z
};

/// The packet of the paper's machine, in bytes: the longest payload of a message between nodes.
inline constexpr std::size_t packet_bytes_max = 128;

/// A machine of grid.x * grid.y * grid.z nodes (Emulating PetaFLOPS Machines and Blue Gene, sections 2 to 4). Times are
/// virtual ones. `emulate` refuses a machine that cannot be, with setup_error.
struct emulated_machine {
  coordinates grid{1, 1, 1};  ///< extents; every one at least 1
  std::uint32_t threads = 1;  ///< threads of a node, communication threads included; at most 60,000
  std::uint32_t communication_threads =
      0;                                ///< threads 0 and up that take the category communication; none: all take it
  std::chrono::nanoseconds hop{0};      ///< a packet's time from a node to its neighbour
  std::chrono::nanoseconds turn{0};     ///< a packet's time to change its direction
  std::chrono::nanoseconds handler{0};  ///< the constant part of a handler's cost; `charge` adds to it

  /// Each second of processor time that a handler or the start function takes on this host costs so many of virtual
  /// time, beside the constant part and what it charges. 0: nothing is measured. Else no two runs are alike.
  double measured = 0;

  turn_rule turns = turn_rule::once;
  emulated_topology topology = emulated_topology::mesh;
  std::uint32_t switch_ports = 16;        ///< downward ports of a fat tree's switch; nodes of a dragonfly's router
  std::chrono::nanoseconds injection{0};  ///< time for which a packet occupies the port out of its node
  double bandwidth = 0;                   ///< bytes a second of a link, which add bytes / bandwidth once; 0: no limit
  /// Each link carries one packet at a time, for packet_bytes / bandwidth, in the order in which
  /// packets ask for it; hop and bandwidth are not 0. Without it packets on one link do not delay each other.
  bool contention = false;
  std::uint32_t packet_bytes = packet_bytes_max;  ///< longest payload of a packet, at most packet_bytes_max
  std::uint32_t output_packets = 32;   ///< packets that wait for the port before a sending thread has to wait; 0: any
  std::uint32_t input_packets = 32;    ///< packets that wait for a thread before others wait in the network; 0: any
  std::vector<coordinates> missing{};  ///< nodes that do not exist: packets go around them

  // Costs that a handler may charge by charge_accesses and charge_floats (paper, section 2); a cycle of 0: none.
  std::chrono::nanoseconds cycle{0};    ///< of a thread
  std::uint32_t processor_threads = 8;  ///< threads that share a processor's floating-point units, one after the other
  std::uint32_t local_cache_cycles = 10;    ///< for an access to the cache of the own processor
  std::uint32_t local_memory_cycles = 20;   ///< to its memory
  std::uint32_t remote_cache_cycles = 20;   ///< to the cache of another processor of the node
  std::uint32_t remote_memory_cycles = 30;  ///< to the memory of another one
  std::uint32_t float_cycles = 6;           ///< from the begin of a floating-point operation to its result

  /// The number of nodes, missing ones included.
  [[nodiscard]] std::uint64_t nodes() const noexcept {
    return static_cast<std::uint64_t>(grid.x) * static_cast<std::uint64_t>(grid.y) * static_cast<std::uint64_t>(grid.z);
  }

  /// The number of nodes that are not missing.
  [[nodiscard]] std::uint64_t nodes_present() const;

  /// Reads a machine from a TOML file whose names are those of the members above: times are texts such as "5ns", a grid
  /// is [34, 34, 36], missing is a list of such places. Throws setup_error, with file and line, for anything else.
  [[nodiscard]] static emulated_machine from_file(const std::string& path);

  template <class Archive>
  void serialize(Archive& ar) {
    ar(grid, threads, communication_threads, hop, turn, handler, measured, turns, topology, switch_ports, injection,
       bandwidth, contention, packet_bytes, output_packets, input_packets, missing, cycle, processor_threads,
       local_cache_cycles, local_memory_cycles, remote_cache_cycles, remote_memory_cycles, float_cycles);
  }
};

/// Memory accesses of a handler, each of which waits for the one before.
struct emulated_accesses {
  std::uint64_t local_cache = 0;
  std::uint64_t local_memory = 0;
  std::uint64_t remote_cache = 0;
  std::uint64_t remote_memory = 0;
};

/// Independent floating-point operations of a handler. A processor has one unit for each of the two kinds, which all
/// its threads share; a unit begins one operation each cycle.
struct emulated_floats {
  std::uint64_t additions = 0;
  std::uint64_t multiplications = 0;
};

/// Reads nodes that are missing in a grid: places such as "1,2,3:4,5,6", or a share of the nodes such as "1%", rounded
/// down, which a number draws ("1%@7"; by itself 1). Equal texts name equal nodes, in the order of their numbers.
/// Throws setup_error for any other text, and for places outside of the grid.
[[nodiscard]] std::vector<coordinates> parse_missing_nodes(std::string_view text, const coordinates& grid);

/// Throws setup_error when the machine cannot be emulated; the text names the member and its bounds.
void check_machine(const emulated_machine& machine);

}  // namespace nacre
