// SPDX-License-Identifier: Apache-2.0
// Finds the module of the MPI to use, and loads it into the process.
#include "transport/mpi/loader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/module_file.hpp"

namespace nacre::transport::mpi {
namespace {

namespace fs = std::filesystem;

std::string file_of(const flavour& flavour) { return fmt::format("nacre_mpi_{}.so", flavour.name); }

library& open_library(const fs::path& file) {
  // Global, because the components that Open MPI loads later expect to find its symbols.
  return *static_cast<library*>(
      open_module(file, module_symbol, module_version, true,
                  {.needed_for = "transport mpi reaches MPI through it",
                   .remedy = "install the MPI that it was built with, or build Nacre with yours",
                   .option = "--nacre.mpi.modules"}));
}

[[noreturn]] void throw_missing(const flavour* wanted, const std::vector<fs::path>& searched) {
  const flavour& named = wanted != nullptr ? *wanted : flavours.front();
  throw setup_error({.problem = fmt::format("there is no module for {} in {}",
                                            wanted != nullptr ? wanted->title : "any MPI", list_places(searched)),
                     .why = "Nacre was built without it, or has been moved",
                     .remedy = fmt::format("install {} and build Nacre again, or name the folder of {} by "
                                           "--nacre.mpi.modules",
                                           named.package, file_of(named))});
}

}  // namespace

std::optional<launch_signs> read_launch_signs() noexcept {
  for (const flavour& each : flavours) {
    const char* const size = std::getenv(each.size_variable);
    if (size == nullptr || std::getenv(each.rank_variable) == nullptr) continue;
    launch_signs result{.launcher = &each};
    const char* const end = size + std::strlen(size);
    if (std::from_chars(size, end, result.size).ptr == end && result.size != 0) return result;
  }
  return std::nullopt;
}

bool has_module(const std::string& folder) {
  return std::any_of(flavours.begin(), flavours.end(), [&](const flavour& each) {
    return find_module(places_of_module(file_of(each), folder)) != nullptr;
  });
}

bool started_by_mpirun() noexcept { return read_launch_signs().has_value(); }

const flavour* find_flavour(const module_choice& choice) noexcept {
  for (const flavour& each : flavours) {
    if (choice.library == each.name) return &each;
  }
  for (const flavour& each : flavours) {
    if (::dlsym(RTLD_DEFAULT, each.own_symbol) != nullptr) return &each;
  }
  const auto signs = read_launch_signs();
  return signs ? signs->launcher : nullptr;
}

library& load_library(const flavour* wanted, const std::string& folder) {
  // One for the process, as MPI itself is: two MPIs cannot share a process.
  static std::mutex loading;
  static const flavour* loaded_flavour = nullptr;
  static library* loaded = nullptr;
  const std::lock_guard lock(loading);
  if (loaded != nullptr && (wanted == nullptr || wanted == loaded_flavour)) return *loaded;
  for (const flavour& each : flavours) {
    if (wanted == nullptr || wanted == &each || ::dlsym(RTLD_DEFAULT, each.own_symbol) == nullptr) continue;
    throw setup_error({.problem = fmt::format("mpi.library asks for {}, but this process holds {} already",
                                              wanted->title, each.title),
                       .why = "a process can use only one MPI",
                       .remedy = fmt::format("set --nacre.mpi.library={}, or leave it at auto", each.name)});
  }
  std::vector<fs::path> searched;
  for (const flavour& each : flavours) {
    if (wanted != nullptr && wanted != &each) continue;
    const std::vector<fs::path> places = places_of_module(file_of(each), folder);
    if (const fs::path* const file = find_module(places)) {
      loaded = &open_library(*file);
      loaded_flavour = &each;
      return *loaded;
    }
    searched.insert(searched.end(), places.begin(), places.end());
  }
  throw_missing(wanted, searched);
}

}  // namespace nacre::transport::mpi
