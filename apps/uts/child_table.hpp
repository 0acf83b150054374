// SPDX-License-Identifier: Apache-2.0
// The number of children as an integer function of a node's draw, for all nodes of one depth.
#pragma once

#include <array>
#include <cstdint>

#include "tree_params.hpp"

namespace uts {

/// How many children a node has, by its draw, without floating point. Immutable after construction.
///
/// The defining formula is monotone in the draw, so that for a geometric distribution a sorted list of thresholds,
/// found by bisecting the formula, replaces it exactly.
class child_table {
 public:
  /// Every node has `children`.
  [[nodiscard]] static child_table constant(std::uint32_t children) noexcept;

  /// Nodes have `children` with probability `q`, else none.
  [[nodiscard]] static child_table binomial(double q, std::uint32_t children) noexcept;

  /// Geometric distribution with this mean; costs about 100 microseconds to build.
  [[nodiscard]] static child_table geometric(double mean) noexcept;

  /// Computes the formula anew for each node at any depth for which there is no table. Its maybe_inner is always true.
  [[nodiscard]] static child_table formula() noexcept;

  [[nodiscard]] bool is_formula() const noexcept { return kind_ == kind::formula; }

  /// False only for nodes without children. One comparison, the same for every kind of table.
  [[nodiscard]] bool maybe_inner(std::uint32_t draw) const noexcept { return draw - inner_first_ < inner_count_; }

  /// The draws for which maybe_inner is true: `inner_count()` of them from `inner_first()` on.
  [[nodiscard]] std::uint32_t inner_first() const noexcept { return inner_first_; }
  [[nodiscard]] std::uint32_t inner_count() const noexcept { return inner_count_; }

  /// The number of children. Requires draw < draw_end and !is_formula().
  [[nodiscard]] std::uint32_t children(std::uint32_t draw) const noexcept {
    if (kind_ == kind::all_or_none) return maybe_inner(draw) ? children_ : 0;
    std::uint32_t n = first_candidate_[draw >> slot_shift];
    while (draw >= thresholds_[n]) ++n;
    return n;
  }

  /// For a geometric table: thresholds()[k] is the least draw that gives more than k children, draw_end if none does.
  [[nodiscard]] const std::array<std::uint32_t, children_max + 1>& thresholds() const noexcept { return thresholds_; }

 private:
  enum class kind : std::uint8_t { all_or_none, drawn, formula };
  static constexpr int slot_shift = 23;
  static constexpr std::uint32_t slot_count = draw_end >> slot_shift;

  kind kind_ = kind::all_or_none;
  std::uint32_t inner_first_ = 0;
  std::uint32_t inner_count_ = 0;
  std::uint32_t children_ = 0;
  std::array<std::uint32_t, children_max + 1> thresholds_{};
  /// The number of children of the least draw in each of slot_count equal slices of the draws.
  std::array<std::uint8_t, slot_count> first_candidate_{};
};

}  // namespace uts
