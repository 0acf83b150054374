// SPDX-License-Identifier: Apache-2.0
// The folder of a job's images: which there are, which counts, and how one is added.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

/// An image with its manifest, which has been read and checked. Its files have not.
struct found_image {
  std::string path;
  manifest description;
  [[nodiscard]] std::string file_of(std::uint32_t rank) const;
  [[nodiscard]] image_number number() const noexcept { return {description.life, description.image}; }
};

/// `DIR/life-000002/image-000007/rank-00003` and `manifest.json` beside it. Each start of a job writes to a life of its
/// own, which it makes exclusively, so that a job that comes back from the dead cannot disturb its successor: the
/// newest image of the newest life that has one counts.
class image_folder {
 public:
  explicit image_folder(std::string path) : path_(std::move(path)) {}
  /// A folder of images, or one image in it, with those before it: `DIR` or `DIR/life-000002/image-000007`.
  [[nodiscard]] static image_folder up_to(const std::string& path);

  /// The images that are there, the one that counts first. A manifest that cannot be used is told in `problems`, a line
  /// each. A folder that is missing has no images. Throws damaged_error if it, or a life in it, cannot be listed: then
  /// nobody knows whether there are any.
  [[nodiscard]] std::vector<found_image> images(std::vector<std::string>& problems) const;

  // All that follow throw write_error.
  /// Makes the folder, if it is missing, and a new life in it. Returns its number.
  [[nodiscard]] std::uint64_t begin_life() const;
  /// Makes the folder of an image. Returns its path.
  [[nodiscard]] std::string begin_image(std::uint64_t life, std::uint64_t image) const;
  /// Writes the manifest of an image whose files are on the disk: from now on it counts.
  void commit(const manifest& manifest) const;

  /// Removes all images but the newest `kept` ones, what has been left unfinished, and those in `damaged`, which count
  /// as none. What cannot be removed stays.
  void remove_older(std::size_t kept, const std::vector<image_number>& damaged = {}) const noexcept;
  /// Removes an image that has not been finished.
  void remove_unfinished(std::uint64_t life, std::uint64_t image) const noexcept;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path_of(std::uint64_t life, std::uint64_t image) const;

 private:
  [[nodiscard]] std::vector<std::uint64_t> lives_to_follow() const;

  std::string path_;
  std::optional<image_number> newest_{};  // later ones do not count
};

/// The name of a rank's file in the folder of an image.
[[nodiscard]] std::string name_of_rank_file(std::uint32_t rank);

}  // namespace nacre::images
