// SPDX-License-Identifier: Apache-2.0
// Loads the module that is linked with UCX.
#pragma once

#include <string>

#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {

/// Whether the module exists. Cheap.
[[nodiscard]] bool has_module(const std::string& folder);

/// UCX in this process, from the module in that folder; empty: beside the executable, or where Nacre was installed.
/// Throws setup_error, which names the places that were searched.
[[nodiscard]] library& load_library(const std::string& folder);

}  // namespace nacre::transport::ucx
