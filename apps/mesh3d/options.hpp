// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/size_field.hpp"
#include "surface/placed_surface.hpp"

namespace mesh3d {

/// What the decomposition makes alike in all subdomains.
enum class weighing : std::uint8_t { work, volume };

/// Which side of the surface is meshed. All of the cube is, but the rest is not kept.
enum class sides : std::uint8_t { inside, outside, both };

struct options {
  std::string input{};                    // a surface; empty: the cube itself
  surface_rule surface{.length_max = 0};  // 0: as elsewhere
  sides keep = sides::inside;
  double size = 0;               // the greatest length of edges; 0: not asked for
  std::uint64_t tetrahedra = 0;  // 0: not asked for
  double ratio_max = 2;
  double sliver_degrees = 0;  // 0: slivers are left
  std::vector<size_source> sources{};
  std::uint32_t subdomains = 0;  // 0: by the size of the mesh
  weighing weigh = weighing::work;
  bool check = false;
  bool json = false;
  double cut = 0.47;
  std::string out{};
  std::string costs{};
};

struct command_line {
  std::optional<int> exit_code{};
  options asked{};
};

/// Throws nacre::setup_error for values that only this program can judge.
command_line parse_command_line(int argc, const char* const* argv);

}  // namespace mesh3d
