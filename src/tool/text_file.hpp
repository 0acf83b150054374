// SPDX-License-Identifier: Apache-2.0
// Files that a user names.
#pragma once

#include <string>

namespace nacre::tool {

/// All that stands in it. Throws setup_error when it cannot be read; `why` says what it is for.
[[nodiscard]] std::string text_of_file(const std::string& path, const std::string& why);

}  // namespace nacre::tool
