// SPDX-License-Identifier: Apache-2.0
// The text of `nacre info`: this build and this machine.
#pragma once

#include <string>

namespace nacre::tool {

/// Several lines: version and build, transports, processor and cores.
[[nodiscard]] std::string info_text();

/// The number of this version, such as "0.2.0".
[[nodiscard]] std::string version_text();

}  // namespace nacre::tool
