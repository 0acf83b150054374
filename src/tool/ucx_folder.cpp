// SPDX-License-Identifier: Apache-2.0
// Making and removing the folder of UCX.
#include "tool/ucx_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace nacre::tool {

ucx_folder::ucx_folder() {
  std::string name = "/dev/shm/nacre_ucx_XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) path_ = std::move(name);
}

void ucx_folder::remove(const std::string& path) noexcept {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove_all(path, ignored);
}

}  // namespace nacre::tool
