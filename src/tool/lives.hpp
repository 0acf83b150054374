// SPDX-License-Identifier: Apache-2.0
// Starts a job again from its newest image when a rank has been killed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "images/image_folder.hpp"

namespace nacre::tool {

/// Decides whether a job is started again. Touches no process.
///
/// | a life ends | images | then |
/// |---|---|---|
/// | well, by a signal to the launcher, or with an error of the program | any | the job ends |
/// | a rank was killed, or lost with its host | none of this job | the job ends |
/// | the same | none of this job, but the first life began from one that is still there | starts again from that |
/// | the same | a newer one than at the last death | starts again; deaths count anew |
/// | the same | none newer | starts again after a pause, until there have been `restarts_max` such deaths in a row |
class lives {
 public:
  /// `job`: the mark of this job in its images. `first_image`: a folder of images, or one of them, from which the first
  /// life goes on; may be empty.
  lives(const std::string& folder, std::string job, const std::string& first_image, std::uint32_t restarts_max);

  // All that follow throw images::damaged_error when a folder cannot be listed.
  /// The image from which the next life goes on; nothing: the job ends.
  [[nodiscard]] std::optional<images::found_image> after_death();
  /// The image from which the job could go on.
  [[nodiscard]] std::optional<images::found_image> newest() const;
  /// Where a life looks for this image, and for those before it if it is damaged.
  [[nodiscard]] std::string path_for(const images::found_image& image) const;
  /// How long to wait before the start that after_death has allowed: the first one without a newer image follows at
  /// once, since most deaths do not come again; later ones leave a passing cause more and more time.
  [[nodiscard]] std::chrono::seconds pause() const noexcept;
  [[nodiscard]] std::uint32_t started() const noexcept { return started_; }

 private:
  images::image_folder folder_;
  const std::string job_;
  std::optional<images::found_image> first_;      // that the first life began from
  std::optional<images::image_number> newest_{};  // at the last death
  const std::uint32_t restarts_max_;
  std::uint32_t restarts_ = 0;  // since there was a newer image
  std::uint32_t started_ = 1;
};

/// The text of `nacre info FOLDER`, a folder of images. Throws setup_error when it has none.
[[nodiscard]] std::string images_text(const std::string& folder);

}  // namespace nacre::tool
