// SPDX-License-Identifier: Apache-2.0
// The first step of docs/porting.md: the structure stays, halos are put into the neighbours' memory.
// run: --nacre.ranks=4
// run: --nacre.transport=sim --nacre.ranks=6
// nacre run -n 3: --nacre.workers=1
// prints: the last of 100 steps changed a cell by 0.0024214
#include <nacre/nacre.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

#include "plate.hpp"

/// Stands for MPI_Dims_create: nearly a square.
nacre::extents grid_of(std::uint32_t ranks) {
  std::uint32_t rows = 1;
  for (std::uint32_t count = 1; count * count <= ranks; ++count)
    if (ranks % count == 0) rows = count;
  return {ranks / rows, rows};
}

/// Stands for MPI_Cart_shift: the rank on one side, or none at the border.
std::optional<nacre::rank_id> beside(const nacre::extents& grid, const nacre::index& index, int side) {
  const int shift = side % 2 * 2 - 1;
  const nacre::index other{index[0] + (side < left ? shift : 0), index[1] + (side < left ? 0 : shift)};
  if (!grid.contains(other)) return std::nullopt;
  return nacre::rank_id{static_cast<std::uint32_t>(grid.number_of(other))};
}

struct larger {
  double operator()(double a, double b) const { return a < b ? b : a; }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::extents grid = grid_of(rt.size());            // MPI_Dims_create, MPI_Cart_create
    const nacre::index ij = grid.place_of(rt.rank().value());  // MPI_Cart_coords
    tile mine(static_cast<int>(ij[0]), static_cast<int>(ij[1]), static_cast<int>(grid[0]), static_cast<int>(grid[1]));

    // Where the neighbours put their edges: a window for each side.
    constexpr std::size_t length = plate_rows + plate_columns;
    std::vector<double> halos(4 * length);
    const nacre::remote_memory<double> window = rt.expose(std::span(halos));
    std::vector<nacre::remote_memory<double>> windows = rt.all_gather(window);

    double change = 0;
    for (int step = 0; step < steps; ++step) {
      std::array<std::vector<double>, 4> edges;
      std::vector<nacre::future<void>> puts;
      for (int side = up; side <= right; ++side) {
        const auto other = beside(grid, ij, side);
        if (!other) continue;
        edges[side] = mine.edge(side);
        puts.push_back(rt.put(windows[other->value()], (side ^ 1) * length, std::span<const double>(edges[side])));
      }
      for (nacre::future<void>& put : puts) put.get();  // over there
      rt.barrier();                                     // everybody's are: now they are read
      for (int side = up; side <= right; ++side)
        if (beside(grid, ij, side)) mine.set_ghosts(side, &halos[side * length]);
      change = rt.all_reduce(mine.relax(), larger{});  // nobody puts again before all have come here
    }
    if (rt.rank().value() == 0) std::printf("the last of %d steps changed a cell by %.7f\n", steps, change);
    rt.withdraw(window);
  });
}
