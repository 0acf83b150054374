// SPDX-License-Identifier: Apache-2.0
// The program and the shared libraries that the process has loaded, by the addresses of their parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nacre {

/// The program, or a shared library, as it lies in memory.
struct loaded_file {
  struct part {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::size_t alignment = 0;
  };

  std::string path;  ///< as the loader knows it; empty for the program
  std::vector<part> parts;
  std::vector<part> notes;  ///< each an ELF segment PT_NOTE

  [[nodiscard]] bool is_program() const noexcept { return path.empty(); }
  [[nodiscard]] bool holds(const void* address) const noexcept;
  /// The bytes of a part: valid while the file stays loaded.
  [[nodiscard]] static std::span<const std::byte> bytes_of(const part& each) noexcept {
    return {reinterpret_cast<const std::byte*>(each.begin), each.bytes};
  }
};

/// In the order in which they were loaded, the program first. Any thread.
[[nodiscard]] std::vector<loaded_file> loaded_files();

/// Keeps a shared library loaded, also where others close it, as long as this object lives. Any thread, but none that
/// holds a lock which the library's own initialisation takes.
class held_library {
 public:
  /// `path`: loaded_file::path. A library that is gone meanwhile is not loaded again.
  explicit held_library(const std::string& path) noexcept;
  held_library(held_library&& other) noexcept;
  held_library& operator=(held_library&&) = delete;
  ~held_library();
  /// False: the library was gone.
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  void* handle_;
};

}  // namespace nacre
