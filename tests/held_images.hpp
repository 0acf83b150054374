// SPDX-License-Identifier: Apache-2.0
// Jobs that take images in the middle of a wait, and the images that have messages in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "image_jobs.hpp"
#include "images/image_folder.hpp"
#include "runtime/image_sections.hpp"

namespace nacre::tests {

/// The bytes of the messages that lie in an image.
inline std::size_t bytes_lying(const images::found_image& image) {
  std::size_t sum = 0;
  const images::manifest& about = image.about;
  for (std::uint32_t rank = 0; rank < about.ranks(); ++rank) {
    const images::file_name name{about.life, about.image, rank, about.ranks()};
    const images::sections file = images::read_image_file(image.file_of(rank), name, about.files[rank]);
    if (const auto found = file.find(lying_section); found != file.end()) sum += found->second.size();
  }
  return sum;
}

struct held_images_of : images_of {
  [[nodiscard]] static config seeded(const char* transport, std::uint32_t ranks, int seed) {
    config how = options(transport, ranks);
    how.set("seed", seed);
    return how;
  }
  [[nodiscard]] config often(config how, const char* every) const {
    how.set("checkpoint.folder", folder);
    how.set("checkpoint.every", every);
    return how;
  }
  /// Removes images until the one that counts has messages in it. Returns whether there is one.
  [[nodiscard]] bool go_back_to_messages() const {
    std::vector<std::string> problems;
    for (const images::found_image& each : images::image_folder(folder).images(problems)) {
      if (bytes_lying(each) != 0) return true;
      std::filesystem::remove_all(each.path);
    }
    return false;
  }
};

}  // namespace nacre::tests
