// SPDX-License-Identifier: Apache-2.0
// A part of the earth's coasts as the input of a mesh.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coast/gshhg.hpp"
#include "coast/projection.hpp"
#include "input/pslg.hpp"

namespace mesh2d {

/// Which side of the coasts is meshed.
enum class kept_side : std::uint8_t { sea, land, both };

struct coast_options {
  std::optional<geographic_region> region{};  // of a preset or the whole earth, where there is none
  projection_kind projected = projection_kind::automatic;
  double km2_min = 0;
  kept_side keep = kept_side::sea;
};

/// "W/E/S/N" in degrees. Throws nacre::setup_error.
[[nodiscard]] geographic_region read_region(const std::string& text);

/// Whether `input` is read as coastlines: norway, greece, world, or FILE.nc.
[[nodiscard]] bool is_coast(const std::string& input);

/// Reads the coasts of `input`. Lengths are kilometres. Throws nacre::setup_error.
[[nodiscard]] pslg read_coast(const std::string& input, const coast_options& asked);

/// The coasts of `map` within a region.
[[nodiscard]] pslg coast_of(const coast_map& map, const coast_options& asked, const geographic_region& region,
                            const std::string& name);

}  // namespace mesh2d
