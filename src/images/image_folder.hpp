// SPDX-License-Identifier: Apache-2.0
// The folder of a job's images: which there are, which counts, and how one is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "images/manifest.hpp"

namespace nacre::images {

/// An image with its manifest, which has been read and checked. Its files have not.
struct found_image {
  std::string path;
  manifest description;
  [[nodiscard]] std::string file_of(std::uint32_t rank) const;
  [[nodiscard]] image_number number() const noexcept { return {description.life, description.image}; }
};

/// Images to which remove_older has other rules.
struct removal_exceptions {
  std::vector<image_number> damaged{};   ///< count as none, and go
  std::optional<image_number> spared{};  ///< stays
};

/// `DIR/life-000002/image-000007/rank-00003` and `manifest.json` beside it. Each start of a job writes to a life of its
/// own, which it makes exclusively, so that a job that comes back from the dead cannot disturb its successor: the
/// newest image of the newest life that has one counts.
class image_folder {
 public:
  explicit image_folder(std::string path) : path_(std::move(path)) {}
  /// A folder of images, or one image in it, or the newest one of a life, with those before it: `DIR`,
  /// `DIR/life-000002/image-000007` or `DIR/life-000002`.
  [[nodiscard]] static image_folder up_to(const std::string& path);
  /// The image that `up_to` has named, of which the number is the largest one for a life.
  [[nodiscard]] const std::optional<image_number>& named() const noexcept { return newest_; }
  /// Whether an image is there which is that, sound or not. Throws damaged_error if nobody knows.
  [[nodiscard]] bool has_named() const;

  /// The images that are there, the one that counts first. A manifest that cannot be used is told in `problems`, a line
  /// each. A folder that is missing has no images. Throws damaged_error if it, or a life in it, cannot be listed: then
  /// nobody knows whether there are any.
  [[nodiscard]] std::vector<found_image> images(std::vector<std::string>& problems) const;

  /// The images on the way to one: the last one of each life, the latest life first. A life that does not tell where it
  /// began, as earlier versions of Nacre wrote it, goes on from the life before it.
  [[nodiscard]] std::vector<image_number> lineage(const image_number& last) const;

  // The next three throw write_error.
  /// Makes the folder, if it is missing, and a new life in it. Returns its number.
  [[nodiscard]] std::uint64_t begin_life(const life_record& record) const;
  /// Makes the folder of an image. Returns its path.
  [[nodiscard]] std::string begin_image(std::uint64_t life, std::uint64_t image) const;
  /// Writes the manifest of an image whose files are on the disk: from now on it counts.
  void commit(const manifest& manifest) const;

  // From here on: files that cannot be removed stay.
  /// Removes, of the lineage of this life, all images but the newest `kept` ones, and unfinished ones.
  /// Images of other starts stay.
  void remove_older(std::uint64_t life, std::size_t kept, const removal_exceptions& exceptions = {}) const noexcept;
  /// Removes an image that has not been finished.
  void remove_unfinished(std::uint64_t life, std::uint64_t image) const noexcept;
  /// Removes what earlier lives of a job left unfinished: those that it goes on from, those of the same job, and those
  /// of the same command that went on from the same image. `life`: its own; 0: it has none yet. Returns whether there
  /// was anything.
  bool remove_remains(std::uint64_t life, const life_record& record) const noexcept;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path_of(std::uint64_t life, std::uint64_t image) const;

 private:
  [[nodiscard]] std::vector<std::uint64_t> lives_to_follow() const;
  [[nodiscard]] std::string path_of_life(std::uint64_t life) const;
  [[nodiscard]] image_number begin_of(std::uint64_t life) const;
  [[nodiscard]] bool is_unfinished(const image_number& number) const;
  [[nodiscard]] bool remove_all_unfinished(std::uint64_t life) const;
  void remove_empty_life(std::uint64_t life) const;
  [[nodiscard]] bool is_earlier_life(std::uint64_t life, const life_record& record,
                                     const std::vector<image_number>& lineage) const;

  std::string path_;
  std::optional<image_number> newest_{};  // later ones do not count
};

/// Whether a lineage has this image.
[[nodiscard]] bool has(const std::vector<image_number>& lineage, const image_number& number) noexcept;

/// The name of a rank's file in the folder of an image.
[[nodiscard]] std::string name_of_rank_file(std::uint32_t rank);

}  // namespace nacre::images
