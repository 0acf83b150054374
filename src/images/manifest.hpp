// SPDX-License-Identifier: Apache-2.0
// The descriptions of images and of lives in a folder of images: their fields, and how they are written and read.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "images/image_file.hpp"

namespace nacre::images {

/// The description of an image, written when it is whole. Until then the image does not exist.
struct manifest {
  std::uint64_t life = 0;   ///< which start of the job has taken it, from 1
  std::uint64_t image = 0;  ///< its number; grows over all lives
  double seconds = 0;       ///< that the job had run, over all lives
  std::string taken;        ///< date and time, UTC
  std::string job;          ///< equal for all lives of one `nacre run`; empty without a launcher that starts jobs again
  std::string command;      ///< of rank 0, without options of Nacre
  std::string kept;         ///< the name of the class of the kept value
  std::uint64_t objects = 0;
  std::uint64_t raw_bytes = 0;   ///< before compression, over all ranks
  std::vector<file_mark> files;  ///< by rank
  [[nodiscard]] std::uint32_t ranks() const noexcept { return static_cast<std::uint32_t>(files.size()); }
};

/// Images are ordered by the life that has taken them, then by their number.
struct image_number {
  std::uint64_t life = 0, image = 0;
  friend auto operator<=>(const image_number&, const image_number&) = default;
};

/// How a start of a job has begun; written before its first image.
struct life_record {
  std::string job;      ///< as in a manifest
  std::string command;  ///< as in a manifest
  image_number from{};  ///< the image of the same folder from which it goes on; zeros: none
};

[[nodiscard]] std::string text_of(const manifest& manifest);
[[nodiscard]] std::string text_of(const life_record& record);

/// Both throw damaged_error, when the file is none or has been changed. A manifest must be of that image.
[[nodiscard]] manifest read_manifest(const std::string& path, const image_number& number);
[[nodiscard]] life_record read_life_record(const std::string& path);

/// Text of a folder as a terminal may show it: with `?` for control characters.
[[nodiscard]] std::string shown(std::string text);

}  // namespace nacre::images
