// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coast/coastlines.hpp"
#include "kernel/size_rule.hpp"
#include "picture/raster.hpp"

namespace mesh2d {

/// How the weights for the decomposition are measured.
enum class weighing : std::uint8_t { work, area };

struct options {
  std::string input{};  // a shape, coastlines, or a .poly file
  std::uint64_t seed = 1;
  coast_options coast{};
  double degrees = 20.7;
  double area_max = 0;
  std::uint64_t triangles = 0;  // 0: not asked for
  std::vector<size_source> sources{};
  std::string size{};            // an expression, or the name of a raster; empty: none
  bool no_refine = false;        // the constrained Delaunay triangulation of the input
  std::uint32_t subdomains = 0;  // 0: by the size of the mesh
  weighing weigh = weighing::work;
  bool deterministic = false;
  bool check = false;
  bool json = false;
  std::string out{};
  std::string write_poly{};                  // the name of a copy of the input; empty: none
  std::uint32_t width = 1600;                // of a picture, in pixels
  colouring colours = colouring::subdomain;  // of a picture
};

struct command_line {
  std::optional<int> exit_code{};
  options asked{};
};

/// Throws nacre::setup_error for values that only this program can judge.
command_line parse_command_line(int argc, const char* const* argv);

}  // namespace mesh2d
