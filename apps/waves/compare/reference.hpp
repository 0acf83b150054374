// SPDX-License-Identifier: Apache-2.0
// Known seismograms: of files, and of Lamb's problem.
#pragma once

#include <string>

#include "compare/seismogram.hpp"
#include "setup/cases.hpp"

namespace waves {

/// Radial, transverse and vertical displacement for a Gaussian moment.
struct reference {
  seismogram motion;
  double sigma = 0, start = 0;  ///< of the Gaussian, in seconds; 0 when the file does not say so
};

/// Reads lines "time radial transverse vertical" at equal distances. Lines that begin with # are comments; "# sigma S
/// start T" says for which moment it is. Throws nacre::setup_error.
[[nodiscard]] reference read_reference(const std::string& file);

/// The reference for a later and wider Gaussian. Throws nacre::setup_error when the other one is narrower.
[[nodiscard]] seismogram for_moment(const reference& known, double sigma, double start);

/// The vertical displacement on the surface of a half space with Poisson's ratio 1/4 (Pekeris, PNAS 41 (1955) 469;
/// Mooney, Bull. Seismol. Soc. Am. 64 (1974) 473), for a vertical force on the surface.
[[nodiscard]] trace lamb_motion(const lamb_setting& setting, double dt, int count);

}  // namespace waves
