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

/// Sets the misfits of the first receiver, where there is something to compare with.
void compare(const options& asked, const problem& problem, const std::vector<seismogram>& motions, report& report);

/// What cannot be written keeps nothing else from being written. Throws the first error, then.
void write_all(const std::vector<std::function<void()>>& outputs);
void write_seismograms(const options& asked, const problem& problem, const std::vector<seismogram>& motions);
/// With a number in the name where there is a series.
void write_snapshot(const options& asked, int number, const plane_points& plane);
/// Makes an animation, under the name without a number, of a series of pictures with the numbers 1 to `count`. It reads
/// them, since a job that has gone on from an image has not written all of them itself.
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
