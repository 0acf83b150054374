// SPDX-License-Identifier: Apache-2.0
// Extension modules in shared objects: checked without running any of their code, then loaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <nacre/extension_module.hpp>

namespace nacre {

/// A shared object that has been loaded; unloaded with the last copy of `keeps`.
struct extension_file {
  std::string name;  ///< of the module
  extension_factory make;
  std::shared_ptr<void> keeps;
};

/// The file that a user means: a path with a '/' as it is written; a bare name beside the executable and in the folders
/// of transport::places_of_module, never in the current folder. Throws setup_error.
[[nodiscard]] std::filesystem::path find_extension_file(const std::string& written);

/// Reads what a file says of itself: its note, and whether it has the one function that is called. Throws setup_error
/// when it is no ELF file of this machine, no extension module, or one of another interface version or build. Returns
/// the module's name. Maps no code.
[[nodiscard]] std::string check_extension_file(const std::filesystem::path& file);

/// Finds, checks and loads a module. All symbols that the module needs are looked up before any of its code runs; the
/// error names one that is missing. Throws setup_error.
[[nodiscard]] extension_file load_extension_file(const std::string& written);

}  // namespace nacre
