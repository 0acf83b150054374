// SPDX-License-Identifier: Apache-2.0
// What is done before ranks share the work: the domain, its decomposition, the bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernel/check.hpp"
#include "kernel/part.hpp"
#include "kernel/size_rule.hpp"
#include "meshing/exact_sum.hpp"
#include "options.hpp"

namespace mesh2d {

struct plan {
  std::vector<part> parts{};
  std::vector<double> expected{};             // triangles of each part, 0 where no bound of the area tells
  size_description size{};                    // of the field of --size
  std::shared_ptr<const size_field> field{};  // null without --size; `rule` points to it
  size_rule rule{};
  std::vector<region_rule> regions{};
  double area_max = 0;                // the bound that --triangles or --area gives; 0: none
  meshing::exact_sum twice_area{};    // of the input
  std::uint32_t pieces = 0;           // that all parts together must have
  std::vector<std::string> faults{};  // segments that the pieces do not cover
  std::vector<std::string> notes{};
};

/// Throws nacre::setup_error for an input that has no mesh, or bounds that ask for too many triangles, or for more than
/// `memory_bytes` hold.
plan make_plan(const pslg& input, const options& asked, double memory_bytes = std::numeric_limits<double>::infinity());

/// The frame of a picture of the mesh, `width` pixels wide. Throws nacre::setup_error for one that is too large.
raster_frame frame_of(const plan& plan, std::uint32_t width);

/// Adds what only the whole can show to the findings of all parts: the area, and pieces that no part has.
void judge_whole(const plan& plan, findings& findings);

/// The number of triangles that the bounds of areas ask for; 0 without bounds.
double expected_triangles(const triangulation& mesh, const size_rule& rule);
double expected_triangles(const triangulation& mesh, index t, const size_rule& rule);

}  // namespace mesh2d
