// SPDX-License-Identifier: Apache-2.0
// The series of pictures of a run, and its animation.
#pragma once

#include "options.hpp"
#include "parallel/evolution.hpp"

namespace nbody {

/// Draws the bodies, if a picture of this step is asked for, writes it, and keeps its step for the animation. Throws
/// nacre::setup_error.
void write_picture(const options& asked, evolution& bodies, evolution_state& state);
/// Reads the pictures of all steps that have one, and leaves out those that are no longer there.
void write_animation(const options& asked, const evolution_state& state);

}  // namespace nbody
