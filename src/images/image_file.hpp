// SPDX-License-Identifier: Apache-2.0
// The file of one rank in an image: sections of bytes, in pieces with checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "images/owned_file.hpp"

namespace nacre::images {

/// Of which image a file is a part, and of which rank.
struct file_name {
  std::uint64_t life = 0;
  std::uint64_t image = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  friend bool operator==(const file_name&, const file_name&) = default;
};

/// How a file can be told from all others: its length, and the checksum over its pieces' checksums.
struct file_mark {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  friend bool operator==(const file_mark&, const file_mark&) = default;
};

/// Section bytes by the number of the section. The vectors begin at multiples of 16 bytes.
using sections = std::map<std::uint32_t, std::vector<std::byte>>;

/// A number that differs, most likely, between different bytes.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// Writes a file that is not there yet; see docs/protocols/images.md for the format. Throws write_error.
class image_writer {
 public:
  enum class compression : std::uint8_t { none, zstd };
  image_writer(const std::string& path, const file_name& name, compression packing);
  /// Adds bytes to a section. Sections may be added in any order; their bytes keep the order in which they come.
  void add(std::uint32_t section, std::span<const std::byte> bytes);
  /// Ends the file and waits until the disk has it. Nothing may be added afterwards.
  [[nodiscard]] file_mark finish();

 private:
  void add_piece(std::uint32_t section, std::span<const std::byte> raw);
  owned_file file_;
  const compression packing_;
  std::uint64_t pieces_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t checksum_ = 0;
  std::vector<std::byte> packed_;
};

/// Reads and checks a whole file. Throws damaged_error when a byte of it is not as it was written, when it is the file
/// of another rank or image, or when it is not the file that `mark` tells. Takes memory for the bytes of the file and
/// what they unpack to, never more.
[[nodiscard]] sections read_image_file(const std::string& path, const file_name& name, const file_mark& mark);

}  // namespace nacre::images
