// SPDX-License-Identifier: Apache-2.0
// How a source acts in time.
#pragma once

#include <string>
#include <vector>

namespace waves {

/// Amplitudes times a function of time. `gaussian` has the area 1; `smooth_bump` is 51480 s^7 (1 - s)^7 with
/// s = (t - start) / width, else 0; `brune` is a step that rises within some widths; `ricker` has the peak 1.
struct time_function {
  enum class shape { gaussian, gaussian_integral, ricker, brune, smooth_bump };
  shape kind = shape::gaussian;
  double start = 0;  ///< seconds: the centre of gaussian, gaussian_integral and ricker, the begin of others
  double width = 1;  ///< seconds: sigma; of ricker 1/(pi f); the decay time of brune

  [[nodiscard]] double value(double t) const;
  [[nodiscard]] double second_derivative(double t) const;
  /// The greatest value.
  [[nodiscard]] double peak() const;
  /// The frequency in 1/s above which it has little.
  [[nodiscard]] double highest_frequency() const;
};

/// The names of the shapes, as input files have them.
[[nodiscard]] const std::vector<std::string>& time_function_names();

}  // namespace waves
