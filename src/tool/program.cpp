// SPDX-License-Identifier: Apache-2.0
// Finds the program that a user names, and enters its folder; an error says why the program cannot be run.
#include "tool/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

constexpr const char* reason = "nacre run starts it once for each rank";

bool is_executable_file(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string check_path(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    throw setup_error({.problem = absent ? "there is no program '" + path + "'"
                                         : "cannot look at '" + path + "': " + std::strerror(errno),
                       .why = reason,
                       .remedy = "check the path"});
  }
  if (S_ISDIR(status.st_mode)) {
    throw setup_error({.problem = "'" + path + "' is a directory", .why = reason, .remedy = "name a program inside"});
  }
  if (!is_executable_file(path)) {
    throw setup_error({.problem = "'" + path + "' is not executable",
                       .why = reason,
                       .remedy = "if it is a program, chmod +x " + path});
  }
  return path;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return check_path(name);
  std::string_view rest = search_path;
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string_view folder = rest.substr(0, end);
    const std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (is_executable_file(candidate)) return candidate;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  throw setup_error({.problem = "there is no program '" + name + "' in the folders of PATH",
                     .why = reason,
                     .remedy = is_executable_file("./" + name) ? "did you mean ./" + name + "?" : "give its path"});
}

void enter_folder(const std::string& folder) {
  if (::chdir(folder.c_str()) == 0) return;
  throw setup_error({.problem = "cannot enter the folder '" + folder + "': " + std::strerror(errno),
                     .why = "the ranks run there",
                     .remedy = "make it there, or name another one with --wdir"});
}

}  // namespace nacre::tool
