// SPDX-License-Identifier: Apache-2.0
// Files that a user names.
#pragma once

#include <string>

namespace nacre::tool {

/// The whole text of a file. Throws setup_error when it cannot be read; `reason` gives the purpose of the file.
[[nodiscard]] std::string text_of_file(const std::string& path, const std::string& reason);

}  // namespace nacre::tool
