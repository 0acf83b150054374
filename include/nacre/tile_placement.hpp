// SPDX-License-Identifier: Apache-2.0
// A placement that keeps neighbours of two or three dimensions together.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <nacre/extents.hpp>
#include <nacre/ids.hpp>
#include <nacre/placement.hpp>

namespace nacre {

namespace detail {

/// A dimension of `length` places that is cut into `parts` for `ranks` ranks: each part has its share of the ranks, and
/// of the places in proportion to them. Counts and lengths of parts with equally many ranks differ by one at most.
class dimension_cut {
 public:
  constexpr dimension_cut(std::uint64_t length, std::uint32_t ranks, std::uint32_t parts) noexcept
      : length_(length), ranks_(ranks), parts_(parts) {}

  /// The number of ranks in front of a part.
  [[nodiscard]] constexpr std::uint32_t ranks_before(std::uint64_t part) const noexcept {
    return static_cast<std::uint32_t>(part * ranks_ / parts_);
  }
  /// The first place of a part: length * ranks_before / ranks, rounded.
  [[nodiscard]] constexpr std::uint64_t begin(std::uint64_t part) const noexcept {
    return (2 * length_ * ranks_before(part) + ranks_) / (2 * std::uint64_t{ranks_});
  }
  /// The part that a rank belongs to: the last one with ranks_before(part) <= rank.
  [[nodiscard]] constexpr std::uint64_t part_of_rank(std::uint64_t rank) const noexcept {
    return ((rank + 1) * parts_ - 1) / ranks_;
  }
  /// The part that a place belongs to: the last one with begin(part) <= place.
  [[nodiscard]] constexpr std::uint64_t part_of_place(std::uint64_t place) const noexcept {
    return part_of_rank((ranks_ * (2 * place + 1) - 1) / (2 * length_));
  }

 private:
  std::uint64_t length_;
  std::uint32_t ranks_, parts_;
};

/// Chooses one of the two whole numbers beside `ideal` between the bounds: the one with the shorter cuts. A number that
/// divides `ranks` makes a regular grid, with fewer neighbours, so its cuts may be a tenth longer.
template <class Length>
[[nodiscard]] std::uint32_t parts_with_shorter_cuts(double ideal, std::uint64_t low, std::uint64_t high,
                                                    std::uint32_t ranks, const Length& length_of_cuts) {
  constexpr double grid = 0.9;
  const std::uint64_t bounded = std::clamp(static_cast<std::uint64_t>(ideal), std::min(low, high), high);
  const auto below = static_cast<std::uint32_t>(bounded);  // high is at most the number of ranks
  const auto above = static_cast<std::uint32_t>(std::min(bounded + 1, high));
  const auto weighed = [&](std::uint32_t parts) { return length_of_cuts(parts) * (ranks % parts == 0 ? grid : 1); };
  return weighed(above) < weighed(below) ? above : below;
}

/// The rows of tiles into which a rectangle is cut for `ranks` ranks. Tiles are as square as can be.
[[nodiscard]] inline std::uint32_t rows_of_tiles(std::uint64_t height, std::uint64_t width, std::uint32_t ranks) {
  const auto tall = static_cast<double>(height), wide = static_cast<double>(width), all = double(ranks);
  return parts_with_shorter_cuts(
      std::sqrt(all * tall / wide), ranks <= width ? 1 : (ranks + width - 1) / width,
      std::min<std::uint64_t>(ranks, height), ranks,
      [&](std::uint32_t rows) {  // between the rows, and in each row of `each` or one more tiles
        const std::uint32_t each = ranks / rows, longer = ranks % rows;
        return (rows - 1) * wide + tall / all * each * (double(rows) * (each - 1) + 2.0 * longer);
      });
}

/// The slabs into which a box is cut, each of which is cut as a rectangle is.
[[nodiscard]] inline std::uint32_t slabs_of_tiles(const extents& shape, std::uint32_t ranks) {
  const auto deep = static_cast<double>(shape[0]), tall = static_cast<double>(shape[1]),
             wide = static_cast<double>(shape[2]), face = tall * wide, all = double(ranks);
  const auto places_of_slab = static_cast<std::uint64_t>(shape[1]) * static_cast<std::uint64_t>(shape[2]);
  return parts_with_shorter_cuts(
      std::cbrt(all * deep * deep / face), ranks <= places_of_slab ? 1 : (ranks + places_of_slab - 1) / places_of_slab,
      std::min<std::uint64_t>(ranks, static_cast<std::uint64_t>(shape[0])), ranks, [&](std::uint32_t slabs) {
        const double own_value = all / slabs;
        return (slabs - 1) * face + deep * (2 * std::sqrt(face * own_value) - tall - wide);
      });
}

}  // namespace detail

/// A placement for arrays of two and three dimensions: each rank gets a tile of neighbouring places, as square (or
/// cubic) as the number of ranks admits. Where that number has fitting factors the tiles form a grid of them, as
/// MPI_Dims_create makes it; else some rows have a tile more than others, and are higher. In each dimension tiles are
/// as long as an equal share, up to one place. Ranks run along the last dimension fastest. A job with more ranks than
/// places leaves some without. An array of one dimension is placed as by_block does.
///
///     auto grid = rt.create_array<cell>(nacre::extents{64, 64}, make, nacre::by_tile{});
struct by_tile {
  [[nodiscard]] rank_id operator()(const index& place, const extents& shape, std::uint32_t ranks) const {
    if (shape.dimensions() == 1) return by_block{}(place, shape, ranks);
    std::uint32_t first = 0, slab_ranks = ranks;
    if (shape.dimensions() == 3) {
      const detail::dimension_cut slabs(length(shape, 0), ranks, detail::slabs_of_tiles(shape, ranks));
      const std::uint64_t slab = slabs.part_of_place(static_cast<std::uint64_t>(place[0]));
      first = slabs.ranks_before(slab);
      slab_ranks = slabs.ranks_before(slab + 1) - first;
    }
    const std::size_t last = shape.dimensions() - 1;
    const std::uint64_t tall = length(shape, last - 1), wide = length(shape, last);
    const detail::dimension_cut rows(tall, slab_ranks, detail::rows_of_tiles(tall, wide, slab_ranks));
    const std::uint64_t row = rows.part_of_place(static_cast<std::uint64_t>(place[last - 1]));
    const std::uint32_t tiles = rows.ranks_before(row + 1) - rows.ranks_before(row);
    const detail::dimension_cut columns(wide, tiles, tiles);
    return rank_id(static_cast<std::uint32_t>(first + rows.ranks_before(row) +
                                              columns.part_of_place(static_cast<std::uint64_t>(place[last]))));
  }

  /// Calls visit(const index&) with each place of the tile of `rank`, in the order of the places; see lists_places.
  template <class Visit>
  void for_each_place(rank_id rank, const extents& shape, std::uint32_t ranks, Visit&& visit) const {
    if (shape.count() == 0) return;
    if (shape.dimensions() == 1) return by_block{}.for_each_place(rank, shape, ranks, visit);
    const box region = box_of(rank, shape, ranks);
    for (std::int64_t x = region.begin[0]; x < region.end[0]; ++x) {
      for (std::int64_t y = region.begin[1]; y < region.end[1]; ++y) {
        for (std::int64_t z = region.begin[2]; z < region.end[2]; ++z) {
          visit(shape.dimensions() == 2 ? index(y, z) : index(x, y, z));
        }
      }
    }
  }

 private:
  struct box {
    std::array<std::int64_t, 3> begin, end;  // of two dimensions: the last ones
  };
  [[nodiscard]] static std::uint64_t length(const extents& shape, std::size_t dimension) noexcept {
    return static_cast<std::uint64_t>(shape[dimension]);
  }
  static void set(box& region, std::size_t dimension, const detail::dimension_cut& cut, std::uint64_t part) noexcept {
    region.begin[dimension] = static_cast<std::int64_t>(cut.begin(part));
    region.end[dimension] = static_cast<std::int64_t>(cut.begin(part + 1));
  }
  [[nodiscard]] static box box_of(rank_id rank, const extents& shape, std::uint32_t ranks) {
    box region{.begin = {0, 0, 0}, .end = {1, 0, 0}};
    std::uint32_t number = rank.value(), sharers = ranks;  // the number among the ranks that share a slab, then a row
    if (shape.dimensions() == 3) {
      const detail::dimension_cut slabs(length(shape, 0), sharers, detail::slabs_of_tiles(shape, sharers));
      const std::uint64_t slab = slabs.part_of_rank(number);
      set(region, 0, slabs, slab);
      number -= slabs.ranks_before(slab);
      sharers = slabs.ranks_before(slab + 1) - slabs.ranks_before(slab);
    }
    const std::size_t last = shape.dimensions() - 1;
    const std::uint64_t tall = length(shape, last - 1), wide = length(shape, last);
    const detail::dimension_cut rows(tall, sharers, detail::rows_of_tiles(tall, wide, sharers));
    const std::uint64_t row = rows.part_of_rank(number);
    set(region, 1, rows, row);
    number -= rows.ranks_before(row);
    sharers = rows.ranks_before(row + 1) - rows.ranks_before(row);
    set(region, 2, detail::dimension_cut(wide, sharers, sharers), number);
    return region;
  }
};

}  // namespace nacre
