// SPDX-License-Identifier: Apache-2.0
// Runs problems on an array of patches.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <nacre/nacre.hpp>

#include "compare/seismogram.hpp"
#include "numerics/problem.hpp"
#include "output/files.hpp"
#include "parallel/conditions.hpp"
#include "parallel/patch.hpp"

namespace waves {

/// What main keeps in images: how far it is in which of several problems, and what it has found so far.
struct progress {
  int level = 0;  ///< of the problem that is computed
  int step = 0;
  int patches_y = 0, patches_z = 0;
  patch::array patches;
  conditions problem;  ///< of the problem that is computed
  double seconds = 0;  ///< of steps, in this level
  double first_energy = 0, energy_drift = 0;
  double greatest = 0;         ///< displacement in the snapshots of this level
  std::vector<double> errors;  ///< of the levels that are done
  template <class Archive>
  void serialize(Archive& ar) {
    ar(level, step, patches_y, patches_z, patches, problem, seconds, first_energy, energy_drift, greatest, errors);
  }
};

/// What a run has found; on rank 0.
struct outcome {
  std::vector<double> errors;  ///< relative, of each problem with an exact solution
  std::optional<double> energy_drift;
  double points_per_second = 0, seconds = 0, bytes_per_point = 0;  ///< of the last problem
  std::uint64_t digest = 0;
  std::vector<seismogram> motions;  ///< of all receivers
};

/// Steps at which a run has snapshots: those next to multiples of the interval; without an interval the last one alone.
struct snapshot_times {
  double interval = 0;  ///< in steps, at least 1; 0: none
  /// Of the snapshot with a number from 1 on.
  [[nodiscard]] int step_of(int number) const { return static_cast<int>(std::lround(number * interval)); }
  /// The last snapshot up to a step; 0 before the first one.
  [[nodiscard]] int number_at(int step) const;
};

/// What a run calls on rank 0.
struct observers {
  std::function<void(int step, int steps, double seconds)> on_progress;
  std::function<void(int number, const plane_points&)> on_snapshot;
  snapshot_times snapshots;
  char plane_axis = 'z';
  double plane_at = 0;  ///< metres
};

struct run_options {
  std::uint32_t patches = 0;
  std::uint32_t chunk = 20;
  bool is_simulated = false;  ///< time is virtual: patches declare what they take
};

/// Collective. Goes on from an image if the runtime has one.
[[nodiscard]] outcome simulate(nacre::runtime& rt, const std::vector<std::shared_ptr<const problem>>& problems,
                               const run_options& asked, const observers& watching);

}  // namespace waves
