// SPDX-License-Identifier: Apache-2.0
// The octree broadcast of the emulator paper, section 5.2: each node splits its box at itself into up to eight.
#include <array>
#include <cstdint>
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

void receive_box(emulated_node& here, box of);

/// Splits a box at `pivot`, which has heard or stands for the box's first node, that has; sends the parts to their
/// middles. Sides of two nodes stay whole while another one is longer: the original's rule, on which the time depends.
void split(emulated_node& here, const box& of, const point& pivot) {
  if (of.low == of.high) return;
  std::array<std::uint32_t, 3> axes{};
  std::uint32_t count = 0;
  std::uint32_t twos = 0;
  std::uint32_t two = 0;
  for (std::uint32_t axis = 3; axis-- > 0;) {
    const std::int32_t side = of.high[axis] - of.low[axis] + 1;
    if (side >= 3) axes[count++] = axis;
    if (side != 2) continue;
    two = axis;
    ++twos;
  }
  if (count == 0) {
    // All sides are of one or two nodes: halve one of them, z of a cube, else the first.
    if (twos == 3) two = 2;
    box near{of.low, of.high, true}, far{of.low, of.high, false};
    near.high[two] = of.low[two];
    far.low[two] = of.high[two];
    here.send<receive_box>({far.low[0], far.low[1], far.low[2]}, far);
    return split(here, near, pivot);
  }
  for (std::uint32_t part = 0; part < 1u << count; ++part) {
    box piece{of.low, of.high, false};
    point middle = pivot;
    bool empty = false;
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t axis = axes[k];
      if ((part >> k & 1) != 0) {
        piece.low[axis] = pivot[axis];
      } else {
        piece.high[axis] = pivot[axis] - 1;
      }
      empty = empty || piece.low[axis] > piece.high[axis];
      middle[axis] = (piece.low[axis] + piece.high[axis]) / 2;
    }
    if (empty) continue;
    piece.first_has_heard = part + 1 == 1u << count || (part == 0 && of.first_has_heard);
    if (piece.first_has_heard && middle == piece.low) {
      split(here, piece, middle);
    } else {
      here.send<receive_box>({middle[0], middle[1], middle[2]}, piece);
    }
  }
}

void receive_box(emulated_node& here, box of) { split(here, of, {here.at().x, here.at().y, here.at().z}); }

}  // namespace

program_result run_octree(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                          const nacre::emulation_options& how) {
  const coordinates& grid = machine.grid;
  const auto middle = [](std::int32_t extent) { return extent == 2 ? 0 : extent / 2; };
  const coordinates root{middle(grid.x), middle(grid.y), middle(grid.z)};
  const box all{{0, 0, 0}, {grid.x - 1, grid.y - 1, grid.z - 1}, false};
  // The root sends in its start function: the time counts from the end of the root's handler, as in the paper.
  const auto start = [&](emulated_node& here) {
    if (here.at() == root) receive_box(here, all);
  };
  program_result result{nacre::emulate(rt, machine, start, how)};
  const std::uint64_t events = result.run.counts().events;
  if (events + 1 != machine.nodes()) result.error = fmt::format("{} nodes of {} heard it", events + 1, machine.nodes());
  return result;
}

}  // namespace emulate
