// SPDX-License-Identifier: Apache-2.0
// What main tells the pieces in each evaluation of the forces, and what they answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "numerics/branch.hpp"
#include "numerics/direct.hpp"
#include "numerics/top_tree.hpp"
#include "numerics/walk.hpp"

namespace nbody {

/// Evaluations of the forces are numbered from 1; messages of one carry its number.
using epoch_number = std::uint64_t;

/// Substeps of a step: a body of rung r has a step of its own, which is the longest step / 2^r.
struct substep {
  double longest = 0;        ///< the longest step, which is also that of rung 0
  std::uint32_t first = 0;   ///< where the substep begins, in units of the longest / 2^rungs
  std::uint32_t length = 0;  ///< in those units
  std::uint32_t rungs = 0;   ///< the largest rung; 0: all bodies take the longest step
  double efficiency = 0;     ///< eta of Springel's criterion
  double softening = 0;

  [[nodiscard]] double step_of(std::uint32_t rung) const noexcept { return longest / static_cast<double>(1u << rung); }
  [[nodiscard]] bool begins(std::uint32_t rung) const noexcept { return first % (1u << (rungs - rung)) == 0; }
  [[nodiscard]] bool ends(std::uint32_t rung) const noexcept { return (first + length) % (1u << (rungs - rung)) == 0; }
  [[nodiscard]] double seconds() const noexcept { return longest * length / static_cast<double>(1u << rungs); }
};

/// The box of some bodies.
struct body_box {
  vector3 low{}, high{};
  double is_empty = 1;
};
[[nodiscard]] bool is_finite(const body_box& box) noexcept;
struct join_boxes {
  body_box operator()(const body_box& a, const body_box& b) const;
};

/// What pieces need to sort their bodies along the curve, and the cells whose bodies they count.
struct sort_plan {
  epoch_number epoch = 0;  ///< 0: nothing is sorted
  frame bounds{};
  std::vector<curve_cell> cells{};  ///< in the order of the curve
  template <class Archive>
  void serialize(Archive& ar) {
    ar(epoch, bounds, cells);
  }
};
struct drift_report {
  body_box box{};
  std::vector<std::uint64_t> counts{};  ///< bodies of each cell
  template <class Archive>
  void serialize(Archive& ar) {
    ar(box, counts);
  }
};

/// Appends what the second has to what the first has. The result does not depend on how values are grouped.
struct append_all {
  template <class T>
  std::vector<T> operator()(std::vector<T> a, const std::vector<T>& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};
/// Adds vectors element by element.
struct add_all {
  template <class T>
  std::vector<T> operator()(std::vector<T> a, const std::vector<T>& b) const {
    if (a.size() < b.size()) a.resize(b.size());
    for (std::size_t k = 0; k < b.size(); ++k) a[k] += b[k];
    return a;
  }
};

struct join_drifts {
  drift_report operator()(drift_report a, const drift_report& b) const {
    return {join_boxes{}(a.box, b.box), add_all{}(std::move(a.counts), b.counts)};
  }
};

/// How the tree is cut: its branches along the curve, and the first of each piece; the last entry is the end.
struct cut_plan {
  epoch_number epoch = 0;
  tree_rules rules{};
  std::vector<counted_cell> branches{};
  std::vector<std::uint32_t> first_of_piece{};
  bool pushes = false;  ///< essential parts are sent unasked
  template <class Archive>
  void serialize(Archive& ar) {
    ar(epoch, rules, branches, first_of_piece, pushes);
  }
};

struct walk_plan {
  epoch_number epoch = 0;
  softening soft{};
  double gravity = 1;
  bool measures = false;  ///< the answer has the sums of each branch
  bool first = false;     ///< the first forces: nothing is kicked, all rungs are chosen
  bool simulated = false;
  substep now{};
};

/// Sums over the bodies of a branch, for energies and momenta.
struct branch_sums {
  std::uint32_t branch = 0;
  double kinetic = 0, potential = 0, mass = 0;
  vector3 momentum{}, angular{}, first_moment{}, absolute{};  ///< absolute: sums of mass * |velocity| by axis
};

/// The seconds of a piece's walk: as the processor measured them, and as they follow from its operations.
struct piece_time {
  std::uint32_t piece = 0;
  double measured = 0, counted = 0;
};

struct walk_report {
  std::vector<branch_sums> sums{};
  std::vector<piece_time> times{};
  walk_counts counts{};
  std::uint32_t finest_rung = 0;
  std::uint64_t active = 0;
  std::uint64_t hurried = 0;  ///< of them want a step shorter than the shortest
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sums, times, counts, finest_rung, active, hurried);
  }
};
struct join_reports {
  walk_report operator()(walk_report a, const walk_report& b) const;
};

/// A body whose force is compared with the direct sum.
struct force_sample {
  vector3 place{}, acceleration{};
  std::uint32_t number = 0;
};

}  // namespace nbody
