// SPDX-License-Identifier: Apache-2.0
// The placements that keep neighbours together: every place has one home, homes have equal shares, and few neighbours
// are parted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

std::vector<std::uint32_t> homes_by_tile(const extents& shape, std::uint32_t ranks) {
  std::vector<std::uint32_t> homes;
  for (std::uint64_t number = 0; number < shape.count(); ++number)
    homes.push_back(by_tile{}(shape.place_of(number), shape, ranks).value());
  return homes;
}

/// Pairs of neighbours whose homes differ.
std::uint64_t parted(const extents& shape, const std::vector<std::uint32_t>& homes) {
  std::uint64_t pairs = 0, stride = 1;
  for (std::size_t dimension = shape.dimensions(); dimension-- != 0;) {
    for (std::uint64_t number = 0; number < shape.count(); ++number) {
      const nacre::index place = shape.place_of(number);
      if (place[dimension] + 1 < shape[dimension] && homes[number] != homes[number + stride]) ++pairs;
    }
    stride *= static_cast<std::uint64_t>(shape[dimension]);
  }
  return pairs;
}

void expect_sound(const extents& shape, std::uint32_t ranks) {
  SCOPED_TRACE(to_string(nacre::index(shape[0], shape[1], shape.dimensions() == 3 ? shape[2] : 1)) + " over " +
               std::to_string(ranks));
  const std::vector<std::uint32_t> homes = homes_by_tile(shape, ranks);
  std::uint64_t listed = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::uint64_t next = 0;
    by_tile{}.for_each_place(rank_id(rank), shape, ranks, [&](const nacre::index& place) {
      const std::uint64_t number = shape.number_of(place);
      ASSERT_EQ(homes[number], rank) << to_string(place);
      ASSERT_GE(number, next) << "in the order of the places";
      next = number + 1;
      ++listed;
    });
  }
  EXPECT_EQ(listed, shape.count()) << "each place is listed once";
}

TEST(by_tile, gives_every_place_one_home_which_lists_it) {
  for (std::int64_t x = 1; x < 12; ++x) {
    for (std::int64_t y = 1; y < 12; ++y) {
      for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 6U, 7U, 8U, 12U, 17U, 31U}) {
        expect_sound(extents{x, y}, ranks);
        expect_sound(extents{x, y, 1 + x * y % 5}, ranks);
      }
    }
  }
  by_tile{}.for_each_place(rank_id(0), extents{0, 5}, 3, [](const nacre::index&) { FAIL() << "there are no places"; });
  const extents line{10};
  for (std::int64_t x = 0; x < 10; ++x) EXPECT_EQ(by_tile{}(x, line, 3), by_block{}(x, line, 3));
}

TEST(by_tile, gives_ranks_shares_that_differ_by_a_row_and_a_column_of_a_tile_at_most) {
  for (std::uint32_t ranks = 1; ranks <= 64; ++ranks) {
    std::map<std::uint32_t, std::uint64_t> shares;
    for (const std::uint32_t home : homes_by_tile(extents{64, 64}, ranks)) ++shares[home];
    ASSERT_EQ(shares.size(), ranks) << "no rank is left out";
    const double equal = 64.0 * 64 / ranks, side = std::sqrt(equal);
    for (const auto& [rank, share] : shares) {
      EXPECT_NEAR(static_cast<double>(share), equal, 1.5 * (2 * side + 1)) << rank << " of " << ranks;
    }
  }
}

/// The table of docs/arrays.md.
TEST(by_tile, parts_fewer_neighbours_than_rows_do) {
  const extents square{64, 64}, cube{24, 24, 24};
  const std::map<std::uint32_t, std::uint64_t> pairs{{2, 64}, {4, 128}, {7, 219}, {8, 256}, {16, 384}, {64, 896}};
  const std::map<std::uint32_t, std::uint64_t> by_default{{2, 64}, {4, 192}, {7, 390}, {8, 448}, {16, 960}, {64, 4032}};
  for (const auto& [ranks, expected] : pairs) {
    EXPECT_EQ(parted(square, homes_by_tile(square, ranks)), expected) << ranks;
    std::vector<std::uint32_t> homes;
    for (std::uint64_t number = 0; number < square.count(); ++number)
      homes.push_back(by_block{}(square.place_of(number), square, ranks).value());
    EXPECT_EQ(parted(square, homes), by_default.at(ranks)) << ranks;
  }
  EXPECT_EQ(parted(cube, homes_by_tile(cube, 8)), 3U * 24 * 24) << "two by two by two";
  EXPECT_EQ(parted(cube, homes_by_tile(cube, 27)), 6U * 24 * 24) << "three by three by three";
  EXPECT_EQ(parted(extents{1000, 2}, homes_by_tile(extents{1000, 2}, 4)), 6U) << "tiles follow the shape";
}

/// Steps of Hilbert's curve.
template <unsigned Dimensions>
void expect_curve(unsigned depth) {
  const std::uint64_t side = std::uint64_t{1} << depth;
  std::uint64_t count = 1;
  for (unsigned each = 0; each < Dimensions; ++each) count *= side;
  std::map<std::uint64_t, std::array<std::uint64_t, Dimensions>> cells;
  for (std::uint64_t cell = 0; cell < count; ++cell) {
    std::array<std::uint64_t, Dimensions> place{}, parent{};
    for (std::uint64_t each = 0, left = cell; each < Dimensions; ++each, left /= side) {
      place[each] = left % side;
      parent[each] = place[each] / 2;
    }
    const std::uint64_t number = detail::hilbert_number<Dimensions>(place, depth);
    EXPECT_TRUE(cells.emplace(number, place).second) << "two cells have number " << number;
    if (depth == 0) continue;
    EXPECT_EQ(detail::hilbert_number<Dimensions>(parent, depth - 1), number >> Dimensions) << "cells of one parent";
  }
  ASSERT_EQ(cells.rbegin()->first, count - 1);
  for (std::uint64_t number = 1; number < count; ++number) {
    std::uint64_t distance = 0;
    for (unsigned each = 0; each < Dimensions; ++each)
      distance += std::max(cells[number][each], cells[number - 1][each]) -
                  std::min(cells[number][each], cells[number - 1][each]);
    ASSERT_EQ(distance, 1U) << "at " << number;
  }
}

TEST(by_curve, follows_a_curve_through_neighbours_on_which_cells_of_one_parent_are_together) {
  for (unsigned depth = 0; depth <= 6; ++depth) expect_curve<2>(depth);
  for (unsigned depth = 0; depth <= 4; ++depth) expect_curve<3>(depth);
}

struct square_cell {
  std::int32_t level = 0, x = 0, y = 0;
};
struct cube_cell {
  std::uint8_t level = 0;
  std::uint32_t x = 0, y = 0, z = 0;
};

TEST(by_curve, gives_cells_of_one_parent_one_home_and_ranks_equal_areas) {
  for (const std::uint32_t ranks : {1U, 3U, 5U, 16U}) {
    std::map<std::uint32_t, int> shares;
    for (std::int32_t x = 0; x < 64; ++x) {
      for (std::int32_t y = 0; y < 64; ++y) {
        const rank_id home = by_curve{}(square_cell{6, x, y}, ranks);
        ASSERT_EQ(home, by_curve{}(square_cell{6, x / 2 * 2, y / 2 * 2}, ranks));
        ++shares[home.value()];
      }
    }
    ASSERT_EQ(shares.size(), ranks);
    for (const auto& [rank, share] : shares) EXPECT_NEAR(share, 64.0 * 64 / ranks, 4) << rank << " of " << ranks;
  }
  std::set<std::uint32_t> octants;
  for (std::uint32_t corner = 0; corner < 8; ++corner)
    octants.insert(by_curve{}(cube_cell{2, corner % 2 * 2, corner / 2 % 2 * 2, corner / 4 * 2}, 8).value());
  EXPECT_EQ(octants.size(), 8U);
}

TEST(by_curve, has_a_home_for_every_cell_that_one_can_name) {
  for (const std::int64_t level : {-5, 0, 1, 2, 13, 14, 15, 20, 21, 22, 40, 62, 63, 64, 1000}) {
    for (const std::int64_t place : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
      EXPECT_LT(by_curve::home_of(level, std::array{place, place}, 7).value(), 7U) << level;
      EXPECT_LT(by_curve::home_of(level, std::array{place, place, place}, 1'000'000).value(), 1'000'000U) << level;
    }
  }
  EXPECT_EQ(by_curve{}(square_cell{}, 4), rank_id(0)) << "the root";
}

TEST(by_tile, makes_arrays_on_ranks) {
  for (const char* const range : {"inproc", "sim"}) {
    run_on_two_ranks(range, [](runtime& rt) {
      const auto make = [&](const nacre::index&) { return plain{static_cast<double>(rt.rank().value())}; };
      const auto grid = rt.create_array<plain>(extents{6, 8}, make, by_tile{});
      const auto born = [](const plain& subject) { return subject.seconds; };
      EXPECT_EQ(rt.call(grid[{2, 3}], born).get(), 0);
      EXPECT_EQ(rt.call(grid[{2, 4}], born).get(), 1);
      rt.barrier();
      rt.destroy(grid);
    });
  }
}

}  // namespace
}  // namespace nacre::tests
