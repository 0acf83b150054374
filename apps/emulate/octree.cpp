// SPDX-License-Identifier: Apache-2.0
// The octree broadcast of the emulator paper, section 5.2: each node splits its box at itself into up to eight.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;
using point = std::array<std::int32_t, 3>;

/// A box of nodes that still have to hear, without its first node when that one has heard.
struct box {
  point low, high;
  bool first_has_heard = false;
};

void receive_box(emulated_node& node, box box);
void receive_box_of(emulated_node& node, box box, point pivot);

/// The node of a box that exists and is the nearest to a place in it: it takes the place of a missing one.
template <class Exists>
std::optional<coordinates> nearest_in(const box& box, const point& point, Exists exists) {
  std::optional<coordinates> best;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (std::int32_t z = box.low[2]; z <= box.high[2]; ++z) {
    for (std::int32_t y = box.low[1]; y <= box.high[1]; ++y) {
      for (std::int32_t x = box.low[0]; x <= box.high[0]; ++x) {
        const std::int32_t distance = std::abs(x - point[0]) + std::abs(y - point[1]) + std::abs(z - point[2]);
        if (distance >= least || !exists(coordinates{x, y, z})) continue;
        least = distance;
        best = coordinates{x, y, z};
      }
    }
  }
  return best;
}

/// Sends a box to its middle, or to the node that stands in for that.
void send_box(emulated_node& node, const box& box, const point& middle) {
  const coordinates target{middle[0], middle[1], middle[2]};
  if (node.machine().missing.empty()) return node.send<receive_box>(target, box);
  const std::optional<coordinates> nearest =
      node.exists(target) ? target
                          : nearest_in(box, middle, [&](const coordinates& place) { return node.exists(place); });
  if (nearest) node.send<receive_box_of>(*nearest, box, middle);
}

/// A part of a side of a box, with the coordinate of the node that hears next.
struct part {
  std::int32_t low, high, middle;
};
/// The parts of a side, in the order in which they are sent; the first may be empty.
struct side_parts {
  std::array<part, 2> parts;
  std::uint32_t bits;  ///< of the number of a part: 0 for one part, 1 for two
};

/// Sides of three nodes and more are cut at the pivot, which begins the second part.
side_parts parts_of(std::int32_t low, std::int32_t high, std::int32_t pivot) {
  if (high - low < 2) return {{part{low, high, pivot}}, 0};
  return {{part{low, pivot - 1, (low + pivot - 1) / 2}, part{pivot, high, (pivot + high) / 2}}, 1};
}

/// Halves a box whose sides have one or two nodes: z of a cube, else the last side of two nodes in the order z, y, x.
std::uint32_t axis_to_halve(const box& box) {
  std::uint32_t found_count = 0, twos = 0;
  for (std::uint32_t axis = 3; axis-- > 0;) {
    if (box.low[axis] == box.high[axis]) continue;
    found_count = axis;
    ++twos;
  }
  return twos == 3 ? 2 : found_count;
}

/// Splits a box at `pivot`, which has heard or stands for the box's first node, that has; sends the parts to their
/// middles. Sides of two nodes stay whole while another one is longer: the original's rule, on which the time depends.
void split(emulated_node& node, const box& subject, const point& pivot) {
  const std::int32_t x = subject.high[0] - subject.low[0], y = subject.high[1] - subject.low[1],
                     z = subject.high[2] - subject.low[2];
  if ((x | y | z) == 0) return;
  if (x < 2 && y < 2 && z < 2) {
    const std::uint32_t two = axis_to_halve(subject);
    box near{subject.low, subject.high, true}, far{subject.low, subject.high, false};
    near.high[two] = subject.low[two];
    far.low[two] = subject.high[two];
    send_box(node, far, far.low);
    return split(node, near, pivot);
  }
  const side_parts along_x = parts_of(subject.low[0], subject.high[0], pivot[0]);
  const side_parts along_y = parts_of(subject.low[1], subject.high[1], pivot[1]);
  const side_parts along_z = parts_of(subject.low[2], subject.high[2], pivot[2]);
  const std::uint32_t bits_zy = along_z.bits + along_y.bits;
  const std::uint32_t last = (1U << (bits_zy + along_x.bits)) - 1;
  for (std::uint32_t number = 0; number <= last; ++number) {
    const part& in_z = along_z.parts[number & along_z.bits];
    const part& in_y = along_y.parts[number >> along_z.bits & along_y.bits];
    const part& in_x = along_x.parts[number >> bits_zy];
    if (in_x.low > in_x.high || in_y.low > in_y.high || in_z.low > in_z.high) continue;
    const bool has_heard = number == last || (number == 0 && subject.first_has_heard);
    const box piece{{in_x.low, in_y.low, in_z.low}, {in_x.high, in_y.high, in_z.high}, has_heard};
    const point middle{in_x.middle, in_y.middle, in_z.middle};
    if (has_heard && middle == piece.low) {
      split(node, piece, middle);
    } else {
      send_box(node, piece, middle);
    }
  }
}

void receive_box(emulated_node& node, box box) { split(node, box, {node.at().x, node.at().y, node.at().z}); }

struct hearing {
  bool has_heard = false;
};

/// Where nodes are missing: a node may stand in for the middle of a box, and hear again when its own box comes.
void receive_box_of(emulated_node& node, box box, point pivot) {
  node.state<hearing>().has_heard = true;
  split(node, box, pivot);
}

}  // namespace

program_result run_octree(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                          const nacre::emulation_options& emulation_options) {
  const coordinates& grid = machine.grid;
  const auto middle = [](std::int32_t extent) { return extent == 2 ? 0 : extent / 2; };
  const coordinates root{middle(grid.x), middle(grid.y), middle(grid.z)};
  const box all{{0, 0, 0}, {grid.x - 1, grid.y - 1, grid.z - 1}, false};
  const bool whole = machine.missing.empty();
  const point middle_of_all{root.x, root.y, root.z};
  const std::set<coordinates> missing(machine.missing.begin(), machine.missing.end());
  const auto exists = [&](const coordinates& place) { return !missing.contains(place); };
  const std::optional<coordinates> first = exists(root) ? root : nearest_in(all, middle_of_all, exists);
  // The root sends in its start function: the time counts from the end of the root's handler, as in the paper.
  const auto start = [&](emulated_node& node) {
    if (whole && node.at() == root) receive_box(node, all);
    if (!whole && node.at() == first) receive_box_of(node, all, middle_of_all);
  };
  std::atomic<std::uint64_t> heard{0};
  nacre::emulation_options options = emulation_options;
  if (!whole) options.finish = [&](emulated_node& node) { heard += node.state<hearing>().has_heard ? 1 : 0; };
  program_result result{nacre::emulate(rt, machine, start, options)};
  const std::uint64_t reached = whole ? result.run.counts().events + 1 : rt.all_reduce(heard.load(), std::plus<>{});
  if (reached != machine.nodes_present()) {
    result.error = fmt::format("{} nodes of {} heard it", reached, machine.nodes_present());
  }
  return result;
}

}  // namespace emulate
