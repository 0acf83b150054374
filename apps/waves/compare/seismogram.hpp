// SPDX-License-Identifier: Apache-2.0
// Displacements at a receiver, and what they are compared with.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace waves {

/// Values at begin + k dt, k = 0, 1, ...
struct trace {
  double begin = 0, dt = 1;
  std::vector<double> values;
  /// By cubics between values; 0 before and the last one behind them.
  [[nodiscard]] double at(double t) const;
};

/// Displacements in m along x, y, z, or radial, transverse, vertical (downwards).
struct seismogram {
  std::string name;
  std::array<trace, 3> components;
};

/// The horizontal components along a direction and across it, to the left as seen from above with z downwards:
/// radial = c x + s y, transverse = -s x + c y.
[[nodiscard]] seismogram rotated(const seismogram& source, double c, double s);

/// The trace convolved with a Gaussian of the area 1; its deviation in seconds may be 0.
[[nodiscard]] trace widened(const trace& source, double sigma);

/// The L2 norm of computed - reference over that of the reference, at the reference's times where both are known.
/// Nothing where no time is known in both, or the reference is at rest in all of them.
[[nodiscard]] std::optional<double> relative_misfit(const trace& computed, const trace& reference);
/// The greatest difference over the greatest value of the reference; nothing in the same cases.
[[nodiscard]] std::optional<double> greatest_misfit(const trace& computed, const trace& reference);

}  // namespace waves
