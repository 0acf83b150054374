// SPDX-License-Identifier: Apache-2.0
// Modules: shared objects beside the library that reach what the library itself must not be linked with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nacre::transport {

/// Where a module of that file name may be, in order of preference: in `folder`, or, when that is empty, beside the
/// executable, on its run path, in ../LIB/nacre from it, in the build, and where Nacre was to be installed.
[[nodiscard]] std::vector<std::filesystem::path> places_of_module(const std::string& file_name,
                                                                  const std::string& folder);

/// The first of them that is a file; null when none is.
[[nodiscard]] const std::filesystem::path* find_module(const std::vector<std::filesystem::path>& places);

/// "a, b, c", for the message that nothing was found.
[[nodiscard]] std::string list_places(const std::vector<std::filesystem::path>& places);

/// What a person is told when a module cannot be loaded.
struct module_words {
  std::string needed_for;  ///< "transport ucx reaches UCX through it"
  std::string remedy;      ///< when a library that it needs is missing
  std::string option;      ///< by which another folder is named: "--nacre.ucx.modules"
};

/// Loads the module for as long as the process lives and calls its one function, `symbol`, which takes the version of
/// the interface and returns null when it was built for another one. `global`: its libraries' symbols can be seen by
/// whatever they load later. Throws setup_error.
[[nodiscard]] void* open_module(const std::filesystem::path& file, const char* symbol, std::uint32_t version,
                                bool global, const module_words& words);

}  // namespace nacre::transport
