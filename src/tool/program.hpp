// SPDX-License-Identifier: Apache-2.0
// Finds the program that a user names, and enters its folder; an error says why the program cannot be run.
#pragma once

#include <string>

namespace nacre::tool {

/// The path of the executable file that `name` means: `name` itself when it has a slash, otherwise the first match in
/// the folders of `search_path`, which has the form of PATH. Throws setup_error when there is none.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& search_path);

/// Makes `folder` the current one. Ranks inherit it, and relative paths of programs begin there. Throws setup_error.
void enter_folder(const std::string& folder);

}  // namespace nacre::tool
