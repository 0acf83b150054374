// SPDX-License-Identifier: Apache-2.0
// Finds the program that a user names, and the folder for it, and says clearly why it cannot be run.
#pragma once

#include <string>

namespace nacre::tool {

/// The path of the executable file that `name` means: itself when it has a slash, otherwise the first one in
/// `search_path` (as in PATH). Throws setup_error when there is none.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& search_path);

/// Makes it the folder of this process, which the ranks inherit and where names of programs begin. Throws setup_error.
void enter_folder(const std::string& folder);

}  // namespace nacre::tool
