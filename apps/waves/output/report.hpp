// SPDX-License-Identifier: Apache-2.0
// The result for people and for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/seismogram.hpp"

namespace waves {

/// What is left out does not apply to the problem.
struct report {
  std::string name;
  std::vector<double> spacings, errors;  ///< of three grids with an exact solution
  std::optional<double> slope;
  bool has_reference = false;  ///< without any misfit, nothing of it could be compared
  std::optional<double> misfit_radial, misfit_transverse, misfit_vertical;
  /// For wider sources: sigma in s, and the three misfits.
  std::vector<std::pair<double, std::vector<std::optional<double>>>> wider;
  std::optional<double> energy_drift;
  std::optional<double> wave_points;  ///< grid points in the shortest wavelength
  double points_per_second = 0, seconds = 0, bytes_per_point = 0;
  std::int64_t points = 0;
  int steps = 0, patches = 0;
  std::uint64_t digest = 0;
};

/// The smaller one of the two orders that three errors on halved grids show. None for other numbers of errors.
[[nodiscard]] std::optional<double> slope_of(const std::vector<double>& errors);

[[nodiscard]] std::string report_text(const report& report);
/// One object with the keys slope, misfit_radial, misfit_transverse, misfit_vertical, energy_drift, points_per_s,
/// seconds, digest; what does not apply is null.
[[nodiscard]] std::string report_json(const report& report);

}  // namespace waves
