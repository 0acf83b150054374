// SPDX-License-Identifier: Apache-2.0
// A folder for the shared memory that UCX makes in the ranks of one host.
#pragma once

#include <string>

namespace nacre::tool {

/// A new folder below /dev/shm. UCX names its shared memory in the file system, and a rank that is killed leaves it
/// there; so the ranks of a host get a folder of their own, which is removed with all that is in it when they have
/// ended. A rank finds it by the variable UCX_POSIX_DIR.
class ucx_folder {
 public:
  /// The folder is not made where there is no /dev/shm that can be written; then UCX goes without.
  ucx_folder();
  ucx_folder(const ucx_folder&) = delete;
  ucx_folder& operator=(const ucx_folder&) = delete;
  ~ucx_folder() { remove(path_); }

  /// Empty when there is none.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Removes such a folder with its files; an empty path is none.
  static void remove(const std::string& path) noexcept;

 private:
  std::string path_;
};

}  // namespace nacre::tool
