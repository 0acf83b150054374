// SPDX-License-Identifier: Apache-2.0
// Loads the module that is linked with UCX.
#include "transport/ucx/loader.hpp"

#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/module_file.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr const char* file_name = "nacre_ucx.so";

library& open_library(const std::string& folder) {
  const auto places = places_of_module(file_name, folder);
  const std::filesystem::path* const file = find_module(places);
  if (file == nullptr) {
    throw setup_error({.problem = "there is no module for UCX: none of " + list_places(places) + " exists",
                       .why = "Nacre was built without it, or has been moved",
                       .remedy = fmt::format("install libucx-dev and build Nacre again, or name the folder of {} by "
                                             "--nacre.ucx.modules",
                                             file_name)});
  }
  return *static_cast<library*>(open_module(*file, module_symbol, module_version, false,
                                            {.needed_for = "transport ucx reaches UCX through it",
                                             .remedy = "install libucx0, or build Nacre with the UCX of this machine",
                                             .option = "--nacre.ucx.modules"}));
}

}  // namespace

bool has_module(const std::string& folder) { return find_module(places_of_module(file_name, folder)) != nullptr; }

library& load_library(const std::string& folder) {
  // One for the process, as long as it lives: UCX cannot undo its registrations.
  static std::mutex loading;
  static library* loaded = nullptr;
  const std::lock_guard lock(loading);
  if (loaded == nullptr) loaded = &open_library(folder);
  return *loaded;
}

}  // namespace nacre::transport::ucx
