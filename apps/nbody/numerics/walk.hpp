// SPDX-License-Identifier: Apache-2.0
// The dual walk: forces of the whole tree on the bodies of one branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "group.hpp"

namespace nbody {

/// Shape of the potential near to a body.
enum class softening_shape : std::uint8_t {
  plummer,  ///< 1 / sqrt(r^2 + s^2) at all distances
  spline    ///< the cubic spline of GADGET (Springel, MNRAS 364 (2005) 1105), Newtonian beyond 2.8 s
};

/// How a walk computes. Lengths are in the units of the tree.
struct walk_rules {
  float target_factor = 5;      ///< 1 / opening angle of targets
  float softening_squared = 0;  ///< of Plummer's softening; a tiny number keeps bodies from acting on themselves
  float spline_length = 0;      ///< beyond it the spline is Newtonian
  softening_shape shape = softening_shape::plummer;
  bool refined = false;    ///< pairs of bodies take a step of Newton's method for the root
  bool potential = false;  ///< also computes potentials
};

/// Interactions of a walk.
struct walk_counts {
  std::uint64_t tests = 0;      ///< cells that were looked at
  std::uint64_t cell_cell = 0;  ///< multipoles into local expansions
  std::uint64_t cell_body = 0;  ///< multipoles at single bodies
  std::uint64_t body_body = 0;
  std::uint64_t sources = 0;  ///< bodies that were copied for pairs
  walk_counts& operator+=(const walk_counts& other) noexcept;
  [[nodiscard]] std::uint64_t interactions() const noexcept { return cell_cell + cell_body + body_body; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(tests, cell_cell, cell_body, body_body, sources);
  }
};

/// A group of cells that a target has yet to look at.
struct walk_entry {
  const group_head* sources;
  std::uint32_t mask;
};

/// What a walk works in: one for each thread, used again for each branch. Plain pointers, because the code that is
/// compiled for special instructions calls no inline function of the library.
class walk_memory {
 public:
  walk_memory();
  /// Makes room for the bodies of a branch and of its largest leaf, and clears the results.
  void prepare(std::size_t bodies, std::size_t leaf_bodies);
  /// Doubles the room for entries, whose addresses change.
  void grow_entries();

  static constexpr std::size_t cell_floats = 64 * 160;  ///< multipoles that wait, by term
  static constexpr std::size_t near_bodies = 1024;      ///< bodies that wait

  walk_entry* entries = nullptr;
  std::size_t entries_size = 0, entries_capacity = 0;
  float *cells = nullptr, *cells_for_bodies = nullptr;
  float* near[4] = {};     ///< x, y, z, mass
  float* targets[7] = {};  ///< bodies of the leaf: x, y, z, and their acceleration and potential
  std::uint32_t* target_index = nullptr;
  float* results[4] = {};  ///< acceleration and potential of the branch's bodies, in their order

 private:
  std::vector<walk_entry> entries_;
  std::vector<float> cells_, near_, targets_, results_;
  std::vector<std::uint32_t> index_;
};

/// One branch as the target of a walk.
struct walk_task {
  const group_head* tree = nullptr;    ///< the group whose only lane is the root of all
  const group_head* parent = nullptr;  ///< the group with the branch's root
  int lane = 0;                        ///< of the branch's root in it
  const branch_view* branches = nullptr;
  const std::uint32_t* active_before = nullptr;  ///< for each body and the end: active bodies before it; null: all are
  walk_rules rules{};
};

using walk_function = void (*)(const walk_task&, walk_memory&, walk_counts&);
/// Pairs of a synthetic set a second, for the measurement of the inner loop.
using pair_function = void (*)(const float* const* sources, int source_count, float* const* targets, int target_count,
                               const walk_rules& rules);

/// The code for one instruction set.
struct kernel_set {
  const char* name;
  walk_function walk[4];  ///< by order: 3, 4, 5, 6
  pair_function pairs;
  double (*peak)();  ///< single-precision operations a second of multiply-and-add on this thread, measured
  int lane_count;
};

inline constexpr int order_min = 3, order_max = 6;

/// The best code that this processor runs.
[[nodiscard]] const kernel_set& best_kernels();
/// The code that every processor runs.
[[nodiscard]] const kernel_set& portable_kernels();

}  // namespace nbody
