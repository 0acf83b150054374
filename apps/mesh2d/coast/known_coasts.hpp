// SPDX-License-Identifier: Apache-2.0
// Coasts that have a name of their own.
#pragma once

#include <string>

#include "coast/projection.hpp"

namespace mesh2d {

struct known_coast {
  const char* name;
  char resolution;  ///< of the data, as files of GSHHG name it: intermediate or low
  geographic_region region;
};

/// norway, greece or world; null for any other name.
[[nodiscard]] const known_coast* find_known_coast(const std::string& name);

}  // namespace mesh2d
