// SPDX-License-Identifier: Apache-2.0
// Initial conditions. Each body follows from its number and the seed, whatever rank makes it. G = 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numerics/body.hpp"

namespace nbody {

enum class model_kind : std::uint8_t {
  plummer,    ///< a sphere of mass 1 and scale 1, drawn from 0.999 of the mass, in equilibrium to a thousandth
  collision,  ///< two of them that meet
  hernquist,  ///< a sphere with a cusp, of mass 1 and scale 1, cut at 0.96 of the mass, which it has, in equilibrium
  collapse,   ///< a uniform sphere of mass 1 and radius 1 at rest, but for a slow rotation
  cube,       ///< a uniform cube of mass 1 and side 1 at rest
  file        ///< no model: bodies are read
};

struct model_settings {
  model_kind kind = model_kind::plummer;
  std::uint64_t bodies = 0, seed = 1;
};

/// The bodies with numbers from `first` to `end`.
[[nodiscard]] std::vector<body> bodies_of_model(const model_settings& model, std::uint32_t first, std::uint32_t end);

}  // namespace nbody
