// SPDX-License-Identifier: Apache-2.0
// Files of images: each call is checked, and each error names the path.
#include "images/owned_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/length_signal.hpp"
#include "images/image_error.hpp"

namespace nacre::images {
namespace {

constexpr std::size_t bytes_a_call_max = 64 << 20;

[[noreturn]] void refuse_write(const std::string& path, int fault) {
  throw write_error(fmt::format("{} cannot be written: {}", path, std::strerror(fault)));
}
[[noreturn]] void refuse_read(const std::string& path, std::string_view reason) {
  throw damaged_error(fmt::format("{} cannot be read: {}", path, reason));
}

}  // namespace

owned_file owned_file::make(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) refuse_write(path, errno);
  return {path, file};
}

owned_file owned_file::open(const std::string& path) {
  // O_NONBLOCK: somebody may have put a pipe there.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) refuse_read(path, std::strerror(errno));
  owned_file opened(path, file);
  struct stat status {};
  if (::fstat(file, &status) != 0) refuse_read(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse_read(path, "it is no regular file");
  return opened;
}

owned_file::~owned_file() {
  if (file_ >= 0) ::close(file_);
}

void owned_file::write(std::span<const std::byte> bytes) {
  const length_signal signal;
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file_, bytes.data(), std::min(bytes.size(), bytes_a_call_max));
    const int fault = written < 0 ? errno : 0;
    if (fault == EFBIG) signal.take();
    if (fault != 0 && fault != EINTR) refuse_write(path_, fault);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void owned_file::sync() {
  if (::fsync(file_) != 0) refuse_write(path_, errno);
}

void owned_file::close() {
  if (::close(std::exchange(file_, -1)) != 0) refuse_write(path_, errno);
}

std::uint64_t owned_file::size() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) refuse_read(path_, std::strerror(errno));
  return static_cast<std::uint64_t>(status.st_size);
}

void owned_file::read(std::span<std::byte> target) {
  while (!target.empty()) {
    const ::ssize_t got = ::read(file_, target.data(), std::min(target.size(), bytes_a_call_max));
    if (got < 0 && errno != EINTR) refuse_read(path_, std::strerror(errno));
    if (got == 0) refuse_read(path_, "it ends too early");
    if (got > 0) target = target.subspan(static_cast<std::size_t>(got));
  }
}

void sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) refuse_write(path, errno);
  const int fault = ::fsync(folder) != 0 ? errno : 0;
  ::close(folder);
  if (fault != 0 && fault != EINVAL) refuse_write(path, fault);  // EINVAL: the file system has no such thing
}

}  // namespace nacre::images
