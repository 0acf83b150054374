// SPDX-License-Identifier: Apache-2.0
// Compares seismograms, and writes all files that the user asked for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/reference.hpp"
#include "output/files.hpp"
#include "output/report.hpp"
#include "setup/options.hpp"

namespace waves {

/// Throws nacre::setup_error for names that cannot be written, or mean nothing.
void check_outputs(const options& asked);
/// Throws setup_error where snapshots or seismograms that are asked for would not be written.
void check_observations(const options& asked, const problem& problem);

/// Points of the grid in the shortest wavelength, from the highest frequency of the sources and the softest material;
/// nothing without sources.
[[nodiscard]] std::optional<double> points_per_wave(const problem& problem);
/// A line for each source that begins in the middle of its pulse, and one for waves of too few points.
[[nodiscard]] std::vector<std::string> warnings_of(const problem& problem);

/// Reads --reference; nothing where none is named. Throws setup_error where nothing would be compared with it.
[[nodiscard]] std::optional<reference> reference_for(const options& asked, const problem& problem);
/// What the first receiver is compared with; nothing where nothing is known, and no values in unknown components.
[[nodiscard]] std::optional<seismogram> known_motion(const options& asked, const problem& problem,
                                                     const std::optional<reference>& reference);
/// Sets the misfits of the first receiver.
void compare(const options& asked, const problem& problem, const std::vector<seismogram>& motions,
             const seismogram& known, report& report);

/// What cannot be written keeps nothing else from being written. Throws the first error, then.
void write_all(const std::vector<std::function<void()>>& outputs);
void write_seismograms(const options& asked, const problem& problem, const std::vector<seismogram>& motions,
                       const std::optional<seismogram>& known);
/// With a number in the name where there is a series.
void write_snapshot(const options& asked, int number, const plane_points& plane);
/// Makes an animation, under the name without a number, of a series of pictures with the numbers 1 to `count`. It reads
/// them, since a job that has gone on from an image has not written all of them itself, and leaves out
/// what is not there.
void write_animation(const options& asked, int count);
/// Throws std::runtime_error with the file's name.
void write_file(const std::string& name, const std::string& bytes);

/// The axis and the metres of --plane.
struct plane_choice {
  char axis = 'z';
  double metres = 0;
};
[[nodiscard]] plane_choice plane_of(const options& asked);

}  // namespace waves
