// SPDX-License-Identifier: Apache-2.0
// Modules: shared objects beside the library that reach what the library itself must not be linked with.
#include "transport/module_file.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "base/privilege.hpp"

// Set by the build: where an installed executable has its modules, seen from its own folder.
#ifndef NACRE_MODULE_FOLDER
#define NACRE_MODULE_FOLDER "../lib/nacre"
#endif

namespace nacre::transport {

namespace fs = std::filesystem;

namespace {

/// The folder of the executable; empty when the system does not tell.
fs::path own_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// Where the token $ORIGIN or ${ORIGIN} of a run path begins, and its length; 0 when there is none.
std::pair<std::size_t, std::size_t> find_origin(const std::string& folder) {
  for (const std::string_view token : {"$ORIGIN", "${ORIGIN}"}) {
    if (const std::size_t index = folder.find(token); index != std::string::npos) return {index, token.size()};
  }
  return {0, 0};
}

link_map* program_file() noexcept {
  link_map* program = nullptr;
  void* const handle = ::dlopen(nullptr, RTLD_LAZY);
  return handle != nullptr && ::dlinfo(handle, RTLD_DI_LINKMAP, &program) == 0 ? program : nullptr;
}

/// The file that this code is in: libnacre.so or another shared library. Null where it is the program.
link_map* library_file() noexcept {
  Dl_info place{};
  void* file = nullptr;
  if (::dladdr1(reinterpret_cast<const void*>(&program_file), &place, &file, RTLD_DL_LINKMAP) == 0) return nullptr;
  return file != program_file() ? static_cast<link_map*>(file) : nullptr;
}

/// The run path that a file was linked with (-rpath), where it finds its libraries; the build sets one, and the
/// installed package that of programs.
std::string run_path(const link_map* file) {
  if (file == nullptr || file->l_ld == nullptr) return {};
  const char* names = nullptr;
  std::optional<std::size_t> offset;
  for (const ElfW(Dyn)* each = file->l_ld; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(each->d_un.d_ptr);
    if (each->d_tag == DT_RUNPATH || each->d_tag == DT_RPATH) offset = each->d_un.d_val;
  }
  if (names == nullptr || !offset) return {};
  return names + *offset;
}

/// The one folder that the user has named.
fs::path named_folder(const std::string& folder, const std::string& file_name) {
  if (has_more_rights_than_its_caller()) {
    throw setup_error({.problem = fmt::format("the folder {} of {} is refused", folder, file_name),
                       .why = "this program has more rights than its caller, who may not choose what code it loads",
                       .remedy = "leave the option out: modules are loaded from where Nacre was installed"});
  }
  if (!fs::path(folder).is_absolute()) {
    throw setup_error({.problem = fmt::format("the folder {} of {} is no whole path", folder, file_name),
                       .why = "what code is loaded must not depend on the current folder",
                       .remedy = fmt::format("write {}", fs::absolute(folder).lexically_normal().string())});
  }
  return folder;
}

}  // namespace

std::vector<fs::path> absolute_folders(const std::string& list, const fs::path& origin) {
  std::vector<fs::path> result;
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ':');) {
    const auto [position, length] = find_origin(each);
    if (length != 0 && !origin.is_absolute()) continue;
    if (length != 0) each.replace(position, length, origin.string());
    if (fs::path(each).is_absolute() && each.find('$') == std::string::npos) {
      result.push_back(fs::path(each).lexically_normal());
    }
  }
  return result;
}

std::vector<fs::path> places_of_module(const std::string& file_name, const std::string& folder) {
  if (!folder.empty()) return {named_folder(folder, file_name) / file_name};
  // A user can make a link to a program that has more rights, and so would choose its folder.
  const fs::path origin = has_more_rights_than_its_caller() ? fs::path() : own_folder();
  std::vector<fs::path> result;
  const auto add = [&](const std::string& list, const fs::path& folder_of_file) {
    for (const fs::path& each : absolute_folders(list, folder_of_file)) result.push_back(each / file_name);
  };
  add("$ORIGIN", origin);
  add(run_path(program_file()), origin);
  add("$ORIGIN/" NACRE_MODULE_FOLDER, origin);
  if (const link_map* const library = library_file(); library != nullptr) {  // of Python, say, which knows no module
    const fs::path path = fs::path(library->l_name).parent_path();
    add(run_path(library), path);
    add("$ORIGIN/nacre", path);
  }
  return result;
}

const fs::path* find_module(const std::vector<fs::path>& places) {
  const auto match = std::find_if(places.begin(), places.end(), [](const fs::path& each) {
    std::error_code ignored;
    return fs::is_regular_file(each, ignored);
  });
  return match == places.end() ? nullptr : &*match;
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
  void* const match = enter == nullptr ? nullptr : enter(version);
  if (match == nullptr) {
    throw setup_error(
        {.problem = fmt::format("the module {} is of another version of Nacre", file.string()),
         .why = "it must be built together with the program's library",
         .remedy = fmt::format("install Nacre again, or name the folder of its modules by {}", words.option)});
  }
  return match;
}

}  // namespace nacre::transport
