// SPDX-License-Identifier: Apache-2.0
// What main of rank 0 knows of the bodies between two steps, and an image keeps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "output/snapshot.hpp"
#include "parallel/cutter.hpp"
#include "parallel/kept_options.hpp"
#include "parallel/piece.hpp"
#include "parallel/plans.hpp"

namespace nbody {

/// Energies, momenta and radii at a time.
struct measurement {
  double time = 0, kinetic = 0, potential = 0, mass = 0, absolute_momentum = 0;
  vector3 momentum{}, angular{}, centre{};
  std::array<double, 5> radii{};  ///< that hold the parts of the mass in lagrange_parts
  [[nodiscard]] double energy() const noexcept { return kinetic + potential; }
};
inline constexpr std::array<double, 5> lagrange_parts{0.01, 0.1, 0.5, 0.75, 0.9};

/// Sums over all evaluations of the forces.
struct work_sums {
  walk_counts counts{};
  store_counts fetches{};
  double force_seconds = 0, seconds = 0;
  std::uint64_t evaluations = 0, active = 0;
  std::uint64_t moves = 0;  ///< of pieces
  template <class Archive>
  void serialize(Archive& ar) {
    ar(counts, fetches, force_seconds, seconds, evaluations, active, moves);
  }
};

struct evolution_state {
  std::vector<kept_option> options{};  ///< with which the bodies were made
  piece::array pieces{};
  std::int64_t step = 0;
  epoch_number epoch = 0;
  double time = 0, mass = 0;
  std::uint64_t bodies = 0;
  std::vector<std::uint64_t> ids{};  ///< of snapshot::ids
  file_units units{};                ///< of the file, if the constant of gravity is theirs
  std::uint32_t finest_rung = 0;
  frame bounds{};
  cutter cut{};
  std::vector<std::uint32_t> first_of_piece{};  ///< of the last cut, among its branches
  std::vector<counted_cell> branches{};
  std::vector<vector3> piece_corners{};  ///< where the part of space of each piece begins, with balance_kind::bound
  std::int64_t cut_step = 0;             ///< of the last cut
  std::vector<double> piece_seconds{};   ///< of the walks in the last step
  std::vector<piece_time> step_times{};  ///< in this step so far
  bool recut_is_due = false;             ///< in the first evaluation of the next step
  std::vector<std::uint32_t> rank_of_piece{};
  measurement first{}, last{};
  work_sums work{};
  double half_width = 0;                      ///< of the pictures; 0: none has been drawn
  std::uint32_t pixels = 0;                   ///< of the pictures
  std::vector<std::int64_t> picture_steps{};  ///< of the pictures that have been written, for the animation
  template <class Archive>
  void serialize(Archive& ar) {
    ar(options, pieces, step, epoch, time, mass, bodies, ids, units, finest_rung, bounds, cut, first_of_piece, branches,
       piece_corners, cut_step, piece_seconds, step_times, recut_is_due, rank_of_piece, first, last, work, half_width,
       pixels, picture_steps);
  }
};

}  // namespace nbody
