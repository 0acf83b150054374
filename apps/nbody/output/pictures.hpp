// SPDX-License-Identifier: Apache-2.0
// The series of pictures of a run, and its animation.
#pragma once

#include "options.hpp"
#include "parallel/evolution.hpp"

namespace nbody {

/// Draws the bodies, if a picture of this step is asked for, writes it, and keeps it for the animation. Throws
/// nacre::setup_error.
void write_picture(const options& asked, evolution& bodies, evolution_state& state);
void write_animation(const options& asked, const evolution_state& state);

}  // namespace nbody
