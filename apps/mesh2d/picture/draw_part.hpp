// SPDX-License-Identifier: Apache-2.0
// Draws a subdomain.
#pragma once

#include <cstdint>

#include "kernel/part.hpp"
#include "picture/raster.hpp"

namespace mesh2d {

/// Each sample of a pixel takes the colour of the triangle that holds it; a sample on a side belongs to one of the two
/// triangles there, also when they are of different parts. Sides are drawn where triangles are larger than some pixels,
/// those of interfaces and segments always. `number` is that of the subdomain or of the rank, as the colour asks.
raster_tile draw_part(const part& drawn, const raster_frame& frame, colouring colouring, std::uint32_t number);

}  // namespace mesh2d
