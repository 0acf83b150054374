// SPDX-License-Identifier: Apache-2.0
// Files that a run writes at its end and checks at its start.
#include "base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <nacre/error.hpp>

namespace nacre {
namespace {

/// An errno value, or 0. An existing file is not opened: opening a pipe would wait for its reader.
int fault_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
  }
  if (errno != ENOENT) return errno;
  const int made_count = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made_count < 0) return errno == EEXIST ? 0 : errno;  // EEXIST: a dangling link, or another process was faster
  ::close(made_count);
  ::unlink(path.c_str());
  return 0;
}

}  // namespace

void check_output(const std::string& path, std::string_view name, std::string_view option) {
  const int fault = fault_of(path);
  if (fault == 0) return;
  throw setup_error({.problem = std::string(name) + " '" + path + "' cannot be written: " + std::strerror(fault),
                     .why = std::string(option) + " asks for it",
                     .remedy = "name a file in a folder that exists and may be written"});
}

namespace {

/// Writes all of `text` and closes the file, whatever happens. Returns an errno value, or 0.
int write_all(int file, std::string_view text) {
  int fault = 0;
  while (!text.empty() && fault == 0) {
    const ::ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) fault = errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::close(file) != 0 && fault == 0) fault = errno;
  return fault;
}

/// The file that the name leads to through links; the name itself where it leads to nothing.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace

std::string replace_output(const std::string& path, std::string_view text) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) return write_output(path, text);
  struct stat link {};
  if (!exists && ::lstat(path.c_str(), &link) == 0)
    return write_output(path, text);  // a link to a file that is missing
  const std::string target = target_of(path);
  const std::string temporary = target + ".new." + std::to_string(::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return write_output(path, text);
  if (exists) static_cast<void>(::fchmod(file, status.st_mode & 07777));
  int fault = write_all(file, text);
  if (fault == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) fault = errno;
  if (fault == 0) return {};
  ::unlink(temporary.c_str());
  return std::strerror(fault);
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
