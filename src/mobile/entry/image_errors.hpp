// SPDX-License-Identifier: Apache-2.0
// What is wrong with an image, or keeps one from being taken.
#pragma once

#include <stdexcept>

namespace nacre {

/// Something keeps an image from being taken now. The text names it.
class image_obstacle : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// An image does not fit this program. The text names the class or handler.
class image_misfit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nacre
