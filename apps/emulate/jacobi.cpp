// SPDX-License-Identifier: Apache-2.0
// A relaxation in three dimensions (paper section 5.2): each node owns a cube of cells and sends its faces to its
// neighbours before each sweep; the largest change of each sweep is reduced over a tree.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "jacobi_cells.hpp"
#include "programs.hpp"
#include "tree_reduction.hpp"
#include "work_charge.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

/// The reduction of residuals.
struct largest_change {
  double value = 0;
  void add(const largest_change& other) noexcept { value = std::max(value, other.value); }
};

/// A neighbour may be one sweep ahead, never two, because it needs this node's faces for the next. So there is room for
/// the faces of two steps.
struct cube {
  std::int64_t side = 0;
  std::uint32_t steps = 0;
  std::uint32_t step = 0;
  std::uint32_t neighbours = 0;
  std::int64_t work_ns = 0;
  std::array<std::uint32_t, 2> missing{};      ///< faces, of this step and of the next
  std::array<std::uint32_t, sides> arrived{};  ///< faces of each side
  std::array<std::array<std::vector<double>, sides>, 2> faces;
  cell_box cells;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(side, steps, step, neighbours, work_ns, missing, arrived, faces, cells);
  }
};

/// The neighbour of a place at a side, or nothing at the end of the grid.
std::optional<coordinates> neighbour(const emulated_node& node, coordinates target, std::uint32_t side) {
  const coordinates& grid = node.machine().grid;
  const std::int32_t step = side % 2 == 0 ? -1 : 1;
  std::int32_t& moved = side / 2 == 0 ? target.x : side / 2 == 1 ? target.y : target.z;
  const std::int32_t extent = side / 2 == 0 ? grid.x : side / 2 == 1 ? grid.y : grid.z;
  moved += step;
  if (moved < 0 || moved >= extent) return std::nullopt;
  return target;
}

/// Calls visit(x, y, z, k) for each cell k of the layer at `depth` across an axis.
template <class Visit>
void for_each_of_layer(std::int64_t side, std::uint32_t axis, std::int64_t depth, Visit visit) {
  for (std::int64_t b = 0; b < side; ++b) {
    for (std::int64_t a = 0; a < side; ++a) {
      const auto k = static_cast<std::size_t>(a + side * b);
      if (axis == 0) visit(depth, a, b, k);
      if (axis == 1) visit(a, depth, b, k);
      if (axis == 2) visit(a, b, depth, k);
    }
  }
}

void receive_face(emulated_node& node, const coordinates& source, std::vector<double> face);
void sweep(emulated_node& node, std::uint32_t part);

/// Follows the cells of a face where nodes are missing, since its receiver may have several cubes.
double label_of(std::uint32_t part, std::uint32_t side) { return part * sides + side; }

void send_faces(emulated_node& node, std::uint32_t part, const cube& cube) {
  const auto cells = static_cast<std::size_t>(cube.side * cube.side);
  const bool labelled = !node.machine().missing.empty();
  std::vector<double> face(cells + (labelled ? 1 : 0));
  const coordinates position = place_of_part(node, part);
  for (std::uint32_t side = 0; side < sides; ++side) {
    const auto target = neighbour(node, position, side);
    if (!target) continue;
    const work_place place = work_place_of(node, *target);
    if (labelled) face[cells] = label_of(place.part, side ^ 1U);
    for_each_of_layer(cube.side, side / 2, side % 2 == 0 ? 0 : cube.side - 1,
                      [&](auto x, auto y, auto z, std::size_t k) { face[k] = cube.cells.at(x, y, z); });
    node.send_data<receive_face>(nacre::emulated::communication, place.node, face);
  }
  // What a faster neighbour has sent may be all that this node waits for.
  if (cube.missing[cube.step % 2] == 0) node.add_task<sweep>(part);
}

/// The side at which a neighbour lies.
std::uint32_t side_of(const coordinates& place, const coordinates& neighbour) {
  if (neighbour.x != place.x) return neighbour.x < place.x ? 0 : 1;
  if (neighbour.y != place.y) return neighbour.y < place.y ? 2 : 3;
  return neighbour.z < place.z ? 4 : 5;
}

/// The faces of a side come in the order of their steps.
void receive_face(emulated_node& node, const coordinates& source, std::vector<double> face) {
  std::uint32_t part = 0, side = 0;
  if (node.machine().missing.empty()) {
    side = side_of(node.at(), source);
  } else {
    const auto label = static_cast<std::uint32_t>(face.back());
    part = label / sides;
    side = label % sides;
    face.pop_back();
  }
  cube& self = node.state<parts_of<cube>>()[part];
  const std::uint32_t step = self.arrived[side]++;
  if (step - self.step > 1) throw std::logic_error("a face of a step that this node does not wait for");
  self.faces[step % 2][side] = std::move(face);
  if (--self.missing[step % 2] == 0 && step == self.step) node.add_task<sweep>(part);
}

void sweep(emulated_node& node, std::uint32_t part) {
  cube& self = node.state<parts_of<cube>>()[part];
  for (std::uint32_t side = 0; side < sides; ++side) {
    const std::vector<double>& face = self.faces[self.step % 2][side];
    for_each_of_layer(self.side, side / 2, side % 2 == 0 ? -1 : self.side,
                      [&](auto x, auto y, auto z, std::size_t k) { self.cells.at(x, y, z) = face[k]; });
  }
  const largest_change change{self.cells.sweep()};
  charge_work(node, self.work_ns, static_cast<std::uint64_t>(self.side * self.side * self.side));
  self.missing[self.step % 2] = self.neighbours;
  contribute_to(node, part, self.step, 0, change);
  if (++self.step < self.steps) send_faces(node, part, self);
}

void start_cube(emulated_node& node, std::uint32_t part, const coordinates& position,
                const program_parameters& parameters) {
  cube& self = node.state<parts_of<cube>>()[part];
  self.side = parameters.cells;
  self.steps = parameters.steps;
  self.work_ns = parameters.work.count();
  self.cells = cell_box(self.side, self.side, self.side);
  const std::int64_t x0 = position.x * self.side, y0 = position.y * self.side, z0 = position.z * self.side;
  for (std::int64_t depth = 0; depth < self.side; ++depth) {
    for_each_of_layer(self.side, 2, depth, [&](auto x, auto y, auto z, std::size_t) {
      self.cells.at(x, y, z) = initial_value(x0 + x, y0 + y, z0 + z);
    });
  }
  const std::size_t face = static_cast<std::size_t>(self.side * self.side);
  for (std::uint32_t side = 0; side < sides; ++side) {
    for (auto& of_step : self.faces) of_step[side].assign(face, boundary_value(side));
    if (neighbour(node, position, side)) ++self.neighbours;
  }
  self.missing = {self.neighbours, self.neighbours};
}

void start_jacobi(emulated_node& node, const program_parameters& parameters) {
  for_each_part(node, [&](std::uint32_t part, const coordinates& place) { start_cube(node, part, place, parameters); });
  for_each_part(node, [&](std::uint32_t part, const coordinates&) {
    send_faces(node, part, node.state<parts_of<cube>>()[part]);
  });
}

/// The same in one loop.
struct plain_relaxation {
  cell_box cells;
  std::vector<double> changes;

  /// One for all ranks of a process that have one at the same time: it has all cells, and takes all sweeps.
  static std::shared_ptr<const plain_relaxation> shared(const coordinates& grid, const program_parameters& parameters) {
    static std::mutex mutex;
    static std::weak_ptr<const plain_relaxation> latest;
    static std::tuple<coordinates, std::uint32_t, std::uint32_t> name;
    const std::scoped_lock lock(mutex);
    const std::tuple wanted(grid, parameters.cells, parameters.steps);
    std::shared_ptr<const plain_relaxation> known = latest.lock();
    if (!known || name != wanted) known = std::make_shared<const plain_relaxation>(grid, parameters);
    latest = known;
    name = wanted;
    return known;
  }

  plain_relaxation(const coordinates& grid, const program_parameters& parameters)
      : cells(std::int64_t{grid.x} * parameters.cells, std::int64_t{grid.y} * parameters.cells,
              std::int64_t{grid.z} * parameters.cells) {
    const std::int64_t nx = std::int64_t{grid.x} * parameters.cells;
    const std::int64_t ny = std::int64_t{grid.y} * parameters.cells;
    const std::int64_t nz = std::int64_t{grid.z} * parameters.cells;
    for (std::int64_t z = -1; z <= nz; ++z) {
      for (std::int64_t y = -1; y <= ny; ++y) {
        for (std::int64_t x = -1; x <= nx; ++x) {
          double& cell = cells.at(x, y, z);
          if (x == -1 || x == nx) {
            cell = boundary_value(x == -1 ? 0 : 1);
          } else if (y == -1 || y == ny) {
            cell = boundary_value(y == -1 ? 2 : 3);
          } else if (z == -1 || z == nz) {
            cell = boundary_value(z == -1 ? 4 : 5);
          } else {
            cell = initial_value(x, y, z);
          }
        }
      }
    }
    for (std::uint32_t step = 0; step < parameters.steps; ++step) changes.push_back(cells.sweep());
  }
};

/// What the nodes of one rank have found.
struct comparison {
  std::atomic<std::uint64_t> cells{0}, different{0}, digest{0};

  void compare(emulated_node& node, std::uint32_t part, const coordinates& place, const plain_relaxation& plain) {
    const cube& self = node.state<parts_of<cube>>()[part];
    std::uint64_t sum = 0;
    std::uint64_t wrong = 0;
    for (std::int64_t depth = 0; depth < self.side; ++depth) {
      for_each_of_layer(self.side, 2, depth, [&](auto x, auto y, auto z, std::size_t) {
        const std::int64_t gx = place.x * self.side + x;
        const std::int64_t gy = place.y * self.side + y;
        const std::int64_t gz = place.z * self.side + z;
        const auto bits = std::bit_cast<std::uint64_t>(self.cells.at(x, y, z));
        wrong += bits != std::bit_cast<std::uint64_t>(plain.cells.at(gx, gy, gz));
        sum += mixed(bits, static_cast<std::uint64_t>((gx << 42) ^ (gy << 21) ^ gz));
      });
    }
    if (tree_place(node, place).is_root()) {
      const auto& changes = node.state<parts_of<tree_reduction<largest_change>>>()[part].results;
      wrong += changes.size() != plain.changes.size();
      for (std::size_t k = 0; k < std::min(changes.size(), plain.changes.size()); ++k) {
        wrong += std::bit_cast<std::uint64_t>(changes[k].value) != std::bit_cast<std::uint64_t>(plain.changes[k]);
      }
    }
    cells += static_cast<std::uint64_t>(self.side * self.side * self.side);
    different += wrong;
    digest += sum;
  }
};

}  // namespace

program_result run_jacobi(nacre::runtime& rt, const nacre::emulated_machine& machine,
                          const program_parameters& parameters, const nacre::emulation_options& emulation_options) {
  const std::shared_ptr<const plain_relaxation> plain = plain_relaxation::shared(machine.grid, parameters);
  comparison match;
  nacre::emulation_options options = emulation_options;
  options.finish = [&](emulated_node& node) {
    for_each_part(node,
                  [&](std::uint32_t part, const coordinates& place) { match.compare(node, part, place, *plain); });
  };
  program_result result{nacre::emulate(
      rt, machine, [&](emulated_node& node) { start_jacobi(node, parameters); }, options)};
  const auto total = [&](std::uint64_t of_rank) { return rt.all_reduce(of_rank, std::plus<>{}); };
  const std::uint64_t cells = total(match.cells);
  const std::uint64_t different = total(match.different);
  result.digest = total(match.digest);
  result.figures = {{"cells", static_cast<double>(cells)}, {"residual", plain->changes.back()}};
  const std::uint64_t expected = machine.nodes() * parameters.cells * parameters.cells * parameters.cells;
  if (cells != expected) result.error = fmt::format("{} cells of {} were compared", cells, expected);
  if (different != 0) result.error = fmt::format("{} cells or residuals differ from those of a plain loop", different);
  return result;
}

}  // namespace emulate
