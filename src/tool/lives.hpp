// SPDX-License-Identifier: Apache-2.0
// Starts a job again from its newest image when a rank has been killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "images/image_folder.hpp"

namespace nacre::tool {

/// Decides whether a job is started again. Touches no process.
///
/// | a life ends | images | then |
/// |---|---|---|
/// | well, by a signal to the launcher, or with an error of the program | any | the job ends |
/// | a rank was killed, or lost with its host | none of this job | the job ends |
/// | the same | a newer one than at the last death | starts again; deaths count anew |
/// | the same | none newer | starts again, until there have been `restarts_max` such deaths in a row |
class lives {
 public:
  /// `job`: the mark of this job in its images. `restored`: the first life goes on from an image that is there already.
  lives(std::string folder, std::string job, bool restored, std::uint32_t restarts_max);

  /// The image from which the next life goes on; nothing: the job ends.
  [[nodiscard]] std::optional<images::found_image> after_death();
  /// Whether the job could go on from an image.
  [[nodiscard]] bool has_image() const;
  [[nodiscard]] std::uint32_t started() const noexcept { return started_; }

 private:
  using number = std::pair<std::uint64_t, std::uint64_t>;  // life and image
  images::image_folder folder_;
  const std::string job_;
  const bool restored_;
  std::optional<number> newest_;  // of this job, that is known
  const std::uint32_t restarts_max_;
  std::uint32_t restarts_ = 0;  // since there was a newer image
  std::uint32_t started_ = 1;
};

/// The text of `nacre info FOLDER`, a folder of images. Throws setup_error when it has none.
[[nodiscard]] std::string images_text(const std::string& folder);

}  // namespace nacre::tool
