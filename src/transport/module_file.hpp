// SPDX-License-Identifier: Apache-2.0
// Modules: shared objects beside the library that reach what the library itself must not be linked with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nacre::transport {

/// The absolute folders of a list that is written like a run path, "a:b:c", with `origin` in place of $ORIGIN. Leaves
/// out relative and empty ones, which the system reads as the current folder, those with other tokens, and those with
/// $ORIGIN when `origin` is not absolute.
[[nodiscard]] std::vector<std::filesystem::path> absolute_folders(const std::string& list,
                                                                  const std::filesystem::path& origin);

/// The places where a module of that file name may be, in order of preference: in `folder`, or, when that is empty,
/// beside the executable, on its run path, which names the build or the installed package that it was linked with, and
/// in ../LIB/nacre from it; where this code is in a shared library, also on the library's run path and in the folder
/// nacre beside it. All paths are absolute, so the current folder never decides which code is loaded. Throws
/// setup_error when `folder` is not absolute, and when one is named although the process has more rights than its
/// caller: the caller could name any code.
[[nodiscard]] std::vector<std::filesystem::path> places_of_module(const std::string& file_name,
                                                                  const std::string& folder);

/// The first of them that is a file; null when none is.
[[nodiscard]] const std::filesystem::path* find_module(const std::vector<std::filesystem::path>& places);

/// "a, b, c", for the message that nothing was found.
[[nodiscard]] std::string list_places(const std::vector<std::filesystem::path>& places);

/// The words of the message to the user when a module cannot be loaded.
struct module_words {
  std::string needed_for;  ///< "transport ucx reaches UCX through it"
  std::string remedy;      ///< when a library that it needs is missing
  std::string option;      ///< by which another folder is named: "--nacre.ucx.modules"
};

/// Loads the module for as long as the process lives and calls its one function, `symbol`. That takes the version of
/// the interface and returns null when it was built for another one. `global`: modules and libraries that are loaded
/// later see the symbols of its libraries. Throws setup_error.
[[nodiscard]] void* open_module(const std::filesystem::path& file, const char* symbol, std::uint32_t version,
                                bool global, const module_words& words);

}  // namespace nacre::transport
