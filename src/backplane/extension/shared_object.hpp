// SPDX-License-Identifier: Apache-2.0
// Reading a shared object in parts, and whether the loader would find in it all that it says to have.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace nacre {

/// A file that is read in parts, each of which must lie in it. A part that does not throws setup_error, as does a file
/// that cannot be read.
class file_parts {
 public:
  explicit file_parts(const std::filesystem::path& file);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::uint64_t bytes);
  template <class T>
  [[nodiscard]] std::vector<T> read_all(std::uint64_t offset, std::uint64_t count) {
    if (count > part_bytes_max / sizeof(T)) refuse("is damaged");
    const std::vector<std::byte> part = read(offset, count * sizeof(T));
    std::vector<T> all(count);
    if (!part.empty()) std::memcpy(all.data(), part.data(), part.size());
    return all;
  }
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  static constexpr std::uint64_t part_bytes_max = std::uint64_t{64} << 20;

  const std::filesystem::path path_;
  std::ifstream in_;
  std::uint64_t bytes_ = 0;
};

/// The header of a shared object of this program's own kind. Throws setup_error for any other file.
[[nodiscard]] ElfW(Ehdr) read_head(file_parts& parts);
[[nodiscard]] std::vector<ElfW(Phdr)> read_segments(file_parts& parts, const ElfW(Ehdr) & head);

/// Throws setup_error when a segment does not lie in the file, when segments overlap, or when a table of the loader's,
/// or an entry of its relocations, leads out of them: the loader would die by a signal. Code is not looked at.
void check_segments(file_parts& parts, const ElfW(Ehdr) & head);

}  // namespace nacre
