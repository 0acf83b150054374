// SPDX-License-Identifier: Apache-2.0
// The first step from the input to a domain: points and segments, as far as doubles can tell them apart.
#pragma once

#include <cstdint>
#include <string>

#include "input/pslg.hpp"
#include "kernel/domain.hpp"

namespace mesh2d {

/// Throws the setup_error for a line of the input.
[[noreturn]] void refuse(const pslg& input, std::uint32_t line, const std::string& problem, const std::string& reason,
                         const std::string& remedy);

/// "segment 3 of line 12".
std::string segment_text(const pslg& input, std::uint32_t segment);

/// Points that are nearer to each other, or to a segment, are moved together.
double least_distance(const pslg& input);

/// Triangulates the points, in a box, and constrains the segments. Points nearer to each other than the least distance
/// become one, and a segment is led through a point that is nearer to it. Throws nacre::setup_error for an input that
/// this does not mend.
void place_input(const pslg& input, domain& domain);

}  // namespace mesh2d
