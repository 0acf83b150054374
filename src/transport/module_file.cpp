// SPDX-License-Identifier: Apache-2.0
// Modules: shared objects beside the library that reach what the library itself must not be linked with.
#include "transport/module_file.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include <nacre/error.hpp>

// Set by the build: folders relative to an executable and absolute ones, separated by ':'.
#ifndef NACRE_MODULE_FOLDERS
#define NACRE_MODULE_FOLDERS ""
#endif

namespace nacre::transport {

namespace fs = std::filesystem;

namespace {

/// "a:b:c", one after the other.
std::vector<fs::path> folders_of(const std::string& list) {
  std::vector<fs::path> result;
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ':');) result.emplace_back(each);
  return result;
}

/// The folders that the program was linked with for what it loads at run time (-rpath), as the installed package does.
std::vector<fs::path> run_path() {
  link_map* program = nullptr;
  void* const handle = ::dlopen(nullptr, RTLD_LAZY);
  if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, &program) != 0 || program->l_ld == nullptr) return {};
  const char* names = nullptr;
  std::optional<std::size_t> offset;
  for (const ElfW(Dyn)* each = program->l_ld; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(each->d_un.d_ptr);
    if (each->d_tag == DT_RUNPATH || each->d_tag == DT_RPATH) offset = each->d_un.d_val;
  }
  if (names == nullptr || !offset) return {};
  return folders_of(names + *offset);
}

}  // namespace

std::vector<fs::path> places_of_module(const std::string& file_name, const std::string& folder) {
  if (!folder.empty()) return {fs::path(folder) / file_name};
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> result{beside / file_name};
  for (const fs::path& each : run_path()) result.push_back((each / file_name).lexically_normal());
  for (const fs::path& each : folders_of(NACRE_MODULE_FOLDERS)) {
    result.push_back((beside / each / file_name).lexically_normal());
  }
  return result;
}

const fs::path* find_module(const std::vector<fs::path>& places) {
  const auto found = std::find_if(places.begin(), places.end(), [](const fs::path& each) {
    std::error_code ignored;
    return fs::is_regular_file(each, ignored);
  });
  return found == places.end() ? nullptr : &*found;
}

std::string list_places(const std::vector<fs::path>& places) {
  std::string result;
  for (const fs::path& each : places) result += (result.empty() ? "" : ", ") + each.string();
  return result;
}

void* open_module(const fs::path& file, const char* symbol, std::uint32_t version, bool global,
                  const module_words& words) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle == nullptr) {
    throw setup_error({.problem = fmt::format("the module {} cannot be loaded: {}", file.string(), ::dlerror()),
                       .why = words.needed_for,
                       .remedy = words.remedy});
  }
  using entry = void* (*)(std::uint32_t);
  const auto enter = reinterpret_cast<entry>(::dlsym(handle, symbol));
  void* const found = enter == nullptr ? nullptr : enter(version);
  if (found == nullptr) {
    throw setup_error(
        {.problem = fmt::format("the module {} is of another version of Nacre", file.string()),
         .why = "it must be built together with the program's library",
         .remedy = fmt::format("install Nacre again, or name the folder of its modules by {}", words.option)});
  }
  return found;
}

}  // namespace nacre::transport
