// SPDX-License-Identifier: Apache-2.0
// A program as it was written for MPI: each rank's main has a part of a field, posts receives for the borders of its
// neighbours, sends its own, computes, and waits.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4
// nacre run -n 2:
// prints: after 50 steps the field is that of one rank alone
#include <nacre/nacre.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

using row = std::vector<double>;
constexpr std::uint64_t steps = 50;
constexpr std::size_t columns = 8, rows = 12;  // rows of the whole field

struct ports {
  nacre::awaited<row> from_above(std::uint64_t /*step*/, row border) { return border; }
  nacre::awaited<row> from_below(std::uint64_t /*step*/, row border) { return border; }
};

/// The first and last row of a field are its border: they do not change.
void relax(std::vector<row>& field) {
  const std::vector<row> old = field;
  for (std::size_t y = 1; y + 1 < field.size(); ++y) {
    for (std::size_t x = 1; x + 1 < columns; ++x) {
      field[y][x] = (old[y - 1][x] + old[y + 1][x] + old[y][x - 1] + old[y][x + 1]) / 4;
    }
  }
}

double value_of(std::size_t y, std::size_t x) { return static_cast<double>((7 * y + 3 * x) % 5); }

/// Rows from `first - 1` to `last`, of which those at both ends are copies of the neighbours' rows, or zero.
std::vector<row> part_of_field(std::size_t first, std::size_t last) {
  std::vector<row> part(last - first + 2, row(columns));
  for (std::size_t y = first; y < last; ++y) {
    for (std::size_t x = 0; x < columns; ++x) part[y - first + 1][x] = value_of(y, x);
  }
  return part;
}

double sum_of(const std::vector<row>& part) {
  double sum = 0;
  for (std::size_t y = 1; y + 1 < part.size(); ++y) sum += std::accumulate(part[y].begin(), part[y].end(), 0.0);
  return sum;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const std::uint32_t index = rt.rank().value(), ranks = rt.size();
    std::vector<row> part = part_of_field(rows * index / ranks, rows * (index + 1) / ranks);
    const auto port = rt.create_group<ports>();  // collective, instead of agreeing on tags
    for (std::uint64_t step = 0; step < steps; ++step) {
      nacre::future<row> above, below;
      if (index > 0) above = rt.next<&ports::from_above>(port, step);          // MPI_Irecv
      if (index + 1 < ranks) below = rt.next<&ports::from_below>(port, step);  // MPI_Irecv
      if (index > 0) rt.send<&ports::from_below>(port[nacre::rank_id(index - 1)], step, part[1]);
      if (index + 1 < ranks) rt.send<&ports::from_above>(port[nacre::rank_id(index + 1)], step, part[part.size() - 2]);
      if (index > 0) part.front() = above.get();         // MPI_Wait
      if (index + 1 < ranks) part.back() = below.get();  // MPI_Wait
      relax(part);
    }
    const double sum = rt.all_reduce(sum_of(part), std::plus<>{});
    if (index != 0) return;
    std::vector<row> alone = part_of_field(0, rows);
    for (std::uint64_t step = 0; step < steps; ++step) relax(alone);
    const double difference = sum - sum_of(alone);
    const bool same = difference < 1e-9 && difference > -1e-9;
    std::printf("after %d steps the field is %s\n", static_cast<int>(steps),
                same ? "that of one rank alone" : "another one");
  });
}
