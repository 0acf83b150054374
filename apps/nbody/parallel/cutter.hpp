// SPDX-License-Identifier: Apache-2.0
// Finds the branches: the largest cells of the octree with at most a given number of bodies.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "numerics/top_tree.hpp"

namespace nbody {

/// Counts the bodies in each of some cells, on all pieces.
using cell_counter = std::function<std::vector<std::uint64_t>(const std::vector<curve_cell>&)>;

/// The cells of a cut cover the cube, in the order of the curve, empty ones too. They follow from the counts alone; it
/// saves rounds of counting that a cut begins with the cells of the one before.
class cutter {
 public:
  [[nodiscard]] std::vector<curve_cell> cells() const;
  /// Cuts anew. `counts`: the bodies of each of `cells()`. Cells with more than `bodies_max` bodies are split, as far
  /// as keys reach; `count` is asked for the new ones.
  void update(std::uint64_t bodies_max, const std::vector<std::uint64_t>& counts, const cell_counter& count);
  /// The cells that have bodies.
  [[nodiscard]] std::vector<counted_cell> branches() const;
  [[nodiscard]] std::uint32_t rounds() const noexcept { return rounds_; }  ///< of the last cut

  template <class Archive>
  void serialize(Archive& ar) {
    ar(cells_);
  }

 private:
  void merge(std::uint64_t bodies_max);
  /// Splits into cells two levels below, whose counts are asked for. Returns whether there was anything to split.
  bool split(std::uint64_t bodies_max, const cell_counter& count);

  std::vector<counted_cell> cells_{counted_cell{}};
  std::uint32_t rounds_ = 0;
};

/// The largest branch that suits a number of bodies: so small that there are enough branches to share.
[[nodiscard]] std::uint64_t branch_bodies_for(std::uint64_t bodies) noexcept;

/// Cuts the branches into runs so that the heaviest run weighs as little as it can, to a part in a thousand, and the
/// others are about equal. Returns the first branch of each run, and the end.
[[nodiscard]] std::vector<std::uint32_t> cut_runs(const std::vector<double>& weights, std::uint32_t runs);
/// Likewise, for runs that belong to groups: equal numbers that follow each other are one group. First the groups get
/// equal weights, and then the runs of each. Where a group has runs at several places, only the runs count.
[[nodiscard]] std::vector<std::uint32_t> cut_nested_runs(const std::vector<double>& weights,
                                                         const std::vector<std::uint32_t>& groups);
/// The weight of the heaviest group.
[[nodiscard]] double greatest_group(const std::vector<double>& weights, const std::vector<std::uint32_t>& first,
                                    const std::vector<std::uint32_t>& groups);

/// Cuts the branches where the curve passes the corners, so that runs keep their parts of space.
[[nodiscard]] std::vector<std::uint32_t> runs_from(const std::vector<vector3>& corners,
                                                   const std::vector<counted_cell>& branches, const frame& frame);

}  // namespace nbody
