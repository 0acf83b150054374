// SPDX-License-Identifier: Apache-2.0
// A file descriptor as a value, and the calls by which images are written and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace nacre::images {

/// An open file. Functions that write throw write_error, functions that read throw damaged_error.
class owned_file {
 public:
  /// Makes a file of this name, which must not be there; 0600.
  [[nodiscard]] static owned_file make(const std::string& path);
  /// Opens a regular file to read it.
  [[nodiscard]] static owned_file open(const std::string& path);
  owned_file(owned_file&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  owned_file& operator=(owned_file&&) = delete;
  ~owned_file();

  void write(std::span<const std::byte> bytes);
  /// Waits until the disk has all of it.
  void sync();
  /// Closes the file. A full disk may show itself here.
  void close();

  [[nodiscard]] std::uint64_t size() const;
  /// Reads exactly so many bytes.
  void read(std::span<std::byte> target);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  owned_file(std::string path, int file) noexcept : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_ = -1;
};

/// Waits until the disk has the names of a folder. Throws write_error.
void sync_folder(const std::string& path);

}  // namespace nacre::images
