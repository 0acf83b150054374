// SPDX-License-Identifier: Apache-2.0
// The MPI program that docs/porting.md carries over: a plate, a tile for each rank, halos by MPI_Sendrecv.
// prints: the last of 100 steps changed a cell by 0.0024214
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "plate.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0, dims[2] = {0, 0}, periods[2] = {0, 0}, position[2] = {0, 0}, neighbour[4];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, position);
  MPI_Cart_shift(grid, 0, 1, &neighbour[up], &neighbour[down]);
  MPI_Cart_shift(grid, 1, 1, &neighbour[left], &neighbour[right]);

  tile mine(position[0], position[1], dims[0], dims[1]);
  double change = 0;
  for (int step = 0; step < steps; ++step) {
    for (int side = up; side <= right; ++side) {
      const std::vector<double> out = mine.edge(side);
      std::vector<double> in(out.size());
      MPI_Sendrecv(out.data(), mine.length(side), MPI_DOUBLE, neighbour[side], side, in.data(), mine.length(side),
                   MPI_DOUBLE, neighbour[side ^ 1], side, grid, MPI_STATUS_IGNORE);
      if (neighbour[side ^ 1] != MPI_PROC_NULL) mine.set_ghosts(side ^ 1, in.data());
    }
    change = mine.relax();
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, grid);
  }
  if (rank == 0) std::printf("the last of %d steps changed a cell by %.7f\n", steps, change);
  MPI_Comm_free(&grid);
  MPI_Finalize();
}
