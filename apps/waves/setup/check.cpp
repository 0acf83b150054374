// SPDX-License-Identifier: Apache-2.0
// Refuses what cannot be computed, before anything is.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nacre/error.hpp>

#include "setup/description.hpp"

namespace waves {
namespace {

constexpr double safe_step = 1.3, longest_step = 1.5;
constexpr double points_max = 4e9;
constexpr int layer_points_min = 16;  // with 14, motion has been seen to grow

[[noreturn]] void refuse(std::string problem, std::string reason, std::string remedy) {
  throw nacre::setup_error({std::move(problem), std::move(reason), std::move(remedy)});
}

std::string text_of(const position& position) {
  return fmt::format("({}, {}, {})", position[0], position[1], position[2]);
}

void demand_number(const std::string& name, double value, bool must_be_positive) {
  if (!std::isfinite(value) || (must_be_positive && value <= 0)) {
    refuse(fmt::format("{} is {}", name, value), must_be_positive ? "it is a positive number" : "it is a finite number",
           "correct it in the input");
  }
}

void check_material(const std::string& name, const isotropic& material) {
  demand_number(name + ": rho", material.rho, true);
  for (const double each : {material.lambda, material.mu})
    demand_number(name + ": lambda or mu, from vp and vs", each, false);
  if (material.mu <= 0 || 3 * material.lambda + 2 * material.mu <= 0) {
    refuse(fmt::format("{}: lambda is {} and mu {} Pa", name, material.lambda, material.mu),
           "such a material moves without end: mu and lambda + 2/3 mu are positive in solids",
           "take vs > 0 and vp > 1.16 vs");
  }
}

/// The harmonic mean of numbers of both signs may be anything.
void check_harmonic_means(const std::vector<layer>& layers) {
  const auto is_negative = [](const layer& each) { return each.material.lambda < 0; };
  const auto negative = std::count_if(layers.begin(), layers.end(), is_negative);
  if (negative == 0 || negative == std::ssize(layers)) return;
  refuse("lambda is negative in some layers and not in others", "harmonic means of such numbers have no bound",
         "take the interface thin_layer, or vp > 1.42 vs in all layers");
}

/// Whether a point of the grid, of its layers too, is in a block along an axis.
bool meets_grid(const description& asked, const block& box, std::size_t axis) {
  constexpr double slack = 1e-6;  // in units of h, as model::at has it
  const double points_before = axis == 2 && asked.top == top_side::free_surface ? 0 : asked.layers;
  const double last = std::round(asked.size[axis] / asked.h) + asked.layers;
  const double first_inside = std::max(std::ceil(box.low[axis] / asked.h - slack), -points_before);
  return first_inside <= std::min(std::floor(box.high[axis] / asked.h + slack), last);
}

void check_blocks(const description& asked) {
  constexpr std::array axes{"x", "y", "z"};
  for (std::size_t k = 0; k < asked.material.blocks.size(); ++k) {
    const block& box = asked.material.blocks[k];
    const std::string name = fmt::format("block {}", k + 1);
    check_material(name, box.material);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      demand_number(fmt::format("{}: low, {}", name, axes[axis]), box.low[axis], false);
      demand_number(fmt::format("{}: high, {}", name, axes[axis]), box.high[axis], false);
      const std::string extent =
          fmt::format("{} reaches from {} = {} to {}", name, axes[axis], box.low[axis], box.high[axis]);
      if (box.low[axis] > box.high[axis]) refuse(extent, "nothing is between them", "exchange low and high");
      if (!meets_grid(asked, box, axis)) {
        refuse(extent, "no point of the grid is there, so that it would change nothing",
               "move it, enlarge it, or leave it out");
      }
    }
  }
}

void check_raster(const raster& points) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    demand_number("raster: low", points.low[axis], false);
    demand_number("raster: spacing", points.spacing[axis], true);
  }
  for (std::size_t k = 0; k < points.materials.size(); ++k) {
    check_material(fmt::format("raster, point {}", k + 1), points.materials[k]);
  }
}

void check_materials(const description& asked) {
  const model& material = asked.material;
  if (material.kind == variation::waves) return;
  if (material.layers.empty() && material.points.materials.empty()) {
    refuse("there is no material", "every point needs one", "add a [[layer]] with top = 0");
  }
  for (std::size_t k = 0; k < material.layers.size(); ++k) {
    const std::string name = fmt::format("layer {}", k + 1);
    demand_number(name + ": top", material.layers[k].top, false);
    if (k > 0 && material.layers[k].top <= material.layers[k - 1].top) {
      refuse(name + " lies above the one before it", "layers are given from the top down", "sort them by top");
    }
    check_material(name, material.layers[k].material);
  }
  if (material.mean == interface_mean::harmonic) check_harmonic_means(material.layers);
  check_blocks(asked);
  if (!material.points.materials.empty()) check_raster(material.points);
  if (material.kind == variation::random && !(material.blocks.empty() && material.points.materials.empty())) {
    refuse("[random] has material = true", "it varies layers alone, and neither a [raster] nor a [[block]]",
           "leave one of them out");
  }
}

void demand_inside(const description& asked, const std::string& name, const position& position) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    demand_number(name, position[axis], false);
    if (position[axis] >= 0 && position[axis] <= asked.size[axis]) continue;
    refuse(fmt::format("{} is at {}", name, text_of(position)),
           fmt::format("the box reaches from 0 to {}, and layers outside of it absorb waves", text_of(asked.size)),
           "move it inside, or enlarge size");
  }
}

/// Names are parts of the names of files.
void check_receivers(const description& asked) {
  std::set<std::string> names;
  for (const named_place& each : asked.receivers) {
    if (each.name.empty() || each.name.find('/') != std::string::npos) {
      refuse(fmt::format("a receiver is called \"{}\"", each.name),
             "files of its seismograms have its name, which has no / and is not empty", "give it another name");
    }
    if (!names.insert(each.name).second) {
      refuse(fmt::format("two receivers are called {}", each.name), "the files of one would replace those of the other",
             "give one of them another name");
    }
    demand_inside(asked, "receiver " + each.name, each.place);
  }
}

void check_grid(const description& asked) {
  constexpr std::array names{"size: x", "size: y", "size: z"};
  demand_number("h", asked.h, true);
  demand_number("time", asked.time, true);
  if (asked.layers != 0 && asked.layers < layer_points_min) {
    refuse(fmt::format("layers is {}", asked.layers),
           "in layers so thin the grid changes too fast, and motion grows without end",
           fmt::format("take {} or more, or 0 for sides that do not move", layer_points_min));
  }
  double points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    demand_number(names[axis], asked.size[axis], true);
    const double count = asked.size[axis] / asked.h + 1 + 2 * asked.layers;
    if (count < 16) {
      refuse(fmt::format("{} has {:.0f} points", names[axis], count), "the operator needs 16",
             "enlarge it, or take a smaller h");
    }
    points *= count;
  }
  if (points > points_max) {
    refuse(fmt::format("the grid has {:.2g} points", points), fmt::format("at most {:.0g} are computed", points_max),
           "take a larger h or a smaller box");
  }
}

void check_step(const description& asked) {
  demand_number("step", asked.step, true);
  if (asked.step > longest_step) {
    refuse(fmt::format("the step is {} h / sqrt(vp^2 + 2 vs^2)", asked.step), "above 1.5 no material is stable",
           "take 1.3");
  }
  if (asked.step > safe_step && !asked.is_step_forced) {
    refuse(fmt::format("the step is {} h / sqrt(vp^2 + 2 vs^2)", asked.step),
           "above 1.3 it is stable in some materials only", "take 1.3, or add --unsafe-step");
  }
}

}  // namespace

void check(const description& asked) {
  check_grid(asked);
  check_step(asked);
  check_materials(asked);
  for (std::size_t k = 0; k < asked.sources.size(); ++k) {
    const point_source& source = asked.sources[k];
    const std::string name = fmt::format("source {}", k + 1);
    demand_inside(asked, name, source.place);
    demand_number(name + ": width", source.time.width, true);
    demand_number(name + ": start", source.time.start, false);
    for (const double each : source.force) demand_number(name + ": force", each, false);
    for (const double each : source.moment) demand_number(name + ": moment", each, false);
  }
  check_receivers(asked);
  if (asked.sources.empty() && !asked.exact && !asked.initial.random) {
    refuse("nothing moves", "there is no source and no initial state", "add a [[source]]");
  }
}

}  // namespace waves
