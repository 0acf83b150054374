// SPDX-License-Identifier: Apache-2.0
// Input files in TOML; docs/waves.md lists their tables.
#pragma once

#include <string>

#include "setup/description.hpp"

namespace waves {

/// Throws nacre::setup_error, with the file and the line or key, for a file that cannot be read.
[[nodiscard]] description read_input(const std::string& file);

}  // namespace waves
