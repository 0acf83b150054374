// SPDX-License-Identifier: Apache-2.0
// Finds the module of the MPI that is meant, and loads it into the process.
#include "transport/mpi/loader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

// Set by the build: folders relative to an executable and absolute ones, separated by ':'.
#ifndef NACRE_MODULE_FOLDERS
#define NACRE_MODULE_FOLDERS ""
#endif

namespace nacre::transport::mpi {
namespace {

namespace fs = std::filesystem;

/// The folders to search, in order.
std::vector<fs::path> folders(const std::string& asked) {
  if (!asked.empty()) return {asked};
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> result{beside};
  std::istringstream built_in(NACRE_MODULE_FOLDERS);
  for (std::string each; std::getline(built_in, each, ':');) result.push_back((beside / each).lexically_normal());
  return result;
}

std::string file_of(const flavour& which) { return fmt::format("nacre_mpi_{}.so", which.name); }

library& open_module(const fs::path& file) {
  // Global, because the parts that Open MPI loads later expect to find its symbols.
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    throw setup_error({.problem = fmt::format("the module {} cannot be loaded: {}", file.string(), ::dlerror()),
                       .why = "transport mpi reaches MPI through it",
                       .remedy = "install the MPI that it was built with, or build Nacre with yours"});
  }
  const auto entry = reinterpret_cast<module_entry>(::dlsym(handle, module_symbol));
  library* const found = entry == nullptr ? nullptr : entry(module_version);
  if (found == nullptr) {
    throw setup_error({.problem = fmt::format("the module {} is of another version of Nacre", file.string()),
                       .why = "it must be built together with the program's library",
                       .remedy = "install Nacre again, or name the folder of its modules by --nacre.mpi.modules"});
  }
  return *found;
}

const fs::path* find_file(const std::vector<fs::path>& candidates) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [](const fs::path& each) {
    std::error_code ignored;
    return fs::is_regular_file(each, ignored);
  });
  return found == candidates.end() ? nullptr : &*found;
}

[[noreturn]] void throw_missing(const flavour* wanted, const std::vector<fs::path>& searched) {
  std::string places;
  for (const fs::path& each : searched) places += (places.empty() ? "" : ", ") + each.string();
  const flavour& named = wanted != nullptr ? *wanted : flavours.front();
  throw setup_error(
      {.problem = fmt::format("there is no module for {} in {}", wanted != nullptr ? wanted->title : "any MPI", places),
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
    launch_signs result{.by = &each};
    const char* const end = size + std::strlen(size);
    if (std::from_chars(size, end, result.size).ptr == end && result.size != 0) return result;
  }
  return std::nullopt;
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
  return signs ? signs->by : nullptr;
}

library& load_library(const flavour* wanted, const std::string& folder) {
  // One for the process, as MPI itself is: two could not live side by side.
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
    std::vector<fs::path> candidates;
    for (const fs::path& place : folders(folder)) candidates.push_back(place / file_of(each));
    if (const fs::path* const file = find_file(candidates)) {
      loaded = &open_module(*file);
      loaded_flavour = &each;
      return *loaded;
    }
    searched.insert(searched.end(), candidates.begin(), candidates.end());
  }
  throw_missing(wanted, searched);
}

}  // namespace nacre::transport::mpi
