// SPDX-License-Identifier: Apache-2.0
// The options that decide the state of the bodies, as an image keeps them.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace nbody {

struct kept_option {
  std::string name{}, value{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, value);
  }
};

/// Number of steps, balancing, pieces and outputs are not among them: a run that goes on from an image may change them.
/// Neither is the name of a file, whose bodies are in the image.
[[nodiscard]] std::vector<kept_option> kept_options_of(const options& asked);

/// Throws nacre::setup_error, with both values, for the first option that a run has in another way than the run that
/// took the image.
void demand_same(const std::vector<kept_option>& image, const std::vector<kept_option>& asked);

}  // namespace nbody
