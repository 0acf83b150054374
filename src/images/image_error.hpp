// SPDX-License-Identifier: Apache-2.0
// The exceptions of images: a file or folder that cannot be written, and one that cannot be used.
#pragma once

#include <stdexcept>

namespace nacre::images {

/// The disk refuses: full, not writable, gone. The text is one line for people, with the path and the cause. The image
/// is lost, the job goes on.
class write_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file of an image is damaged, missing or of another image. The text is one line, with the path and the place.
class damaged_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nacre::images
