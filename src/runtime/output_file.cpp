// SPDX-License-Identifier: Apache-2.0
// Files that a run writes at its end and checks at its start.
#include "runtime/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <nacre/error.hpp>

namespace nacre {
namespace {

/// An errno value, or 0. An existing file is not opened: opening a pipe would wait for its reader.
int fault_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0) {
    if (S_ISDIR(about.st_mode)) return EISDIR;
    return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
  }
  if (errno != ENOENT) return errno;
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0) return errno == EEXIST ? 0 : errno;  // EEXIST: a dangling link, or another process was faster
  ::close(made);
  ::unlink(path.c_str());
  return 0;
}

}  // namespace

void check_output(const std::string& path, std::string_view what, std::string_view option) {
  const int fault = fault_of(path);
  if (fault == 0) return;
  throw setup_error({.problem = std::string(what) + " '" + path + "' cannot be written: " + std::strerror(fault),
                     .why = std::string(option) + " asks for it",
                     .remedy = "name a file in a folder that exists and may be written"});
}

std::string write_output(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return std::strerror(errno);
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int fault = errno;
  if (std::fclose(file) == 0 && whole) return {};
  return std::strerror(whole ? errno : fault);
}

}  // namespace nacre
