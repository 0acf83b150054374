// SPDX-License-Identifier: Apache-2.0
// Texts of the options; doubles as the shortest text that gives them back.
#include "parallel/kept_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nacre/nacre.hpp>
#include <string>
#include <vector>

namespace nbody {

std::vector<kept_option> kept_options_of(const options& asked) {
  std::vector<kept_option> kept;
  const auto keep = [&](const char* name, const auto& value) { kept.push_back({name, fmt::format("{}", value)}); };
  const bool is_file = asked.model.kind == model_kind::file;
  keep("--model", is_file ? "FILE" : asked.model_name);
  if (!is_file) {
    keep("--bodies", asked.model.bodies);
    keep("--seed", asked.model.seed);
  }
  keep("--step", asked.step);
  keep("--rungs", asked.rungs);
  if (asked.rungs > 0) keep("--eta", asked.efficiency);
  keep("--gravity", asked.gravity);
  keep("--softening", asked.soft.length);
  if (asked.soft.length > 0) {
    keep("--softening-shape", asked.soft.shape == softening_shape::spline ? "spline" : "plummer");
  }
  keep("--error", asked.error);
  return kept;
}

void demand_same(const std::vector<kept_option>& image, const std::vector<kept_option>& asked) {
  for (const kept_option& each : asked) {
    const auto match =
        std::find_if(image.begin(), image.end(), [&](const auto& kept) { return kept.name == each.name; });
    if (match == image.end() || match->value == each.value) continue;  // what an option needs is compared before it
    throw nacre::setup_error(
        {fmt::format("the image is of a run with {0} {1}, and now {0} is {2}", each.name, match->value, each.value),
         "the rest of the run would not fit what the image has",
         fmt::format("give {} {}, or begin a new run with the bodies of --out of the old one", each.name,
                     match->value)});
  }
}

}  // namespace nbody
