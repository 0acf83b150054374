// SPDX-License-Identifier: Apache-2.0
// Which transports the tests of several processes can use in this build, whose programs are in a folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::tests {

/// Whether jobs can talk by UCX. The thread sanitizer does not see what UCX synchronises, so not under that.
[[nodiscard]] inline bool has_ucx(const std::filesystem::path& programs) {
#ifdef __SANITIZE_THREAD__
  static_cast<void>(programs);
  return false;
#else
  return std::filesystem::exists(programs / "nacre_ucx.so");
#endif
}

/// Those of `always`, and ucx if it is there.
[[nodiscard]] inline std::vector<std::string> and_ucx(const std::filesystem::path& programs,
                                                      std::vector<std::string> always) {
  if (has_ucx(programs)) always.emplace_back("ucx");
  return always;
}

/// What UCX never releases is not ours to find. For commands that are started afterwards.
inline void ignore_foreign_leaks(std::string_view transport_or_command) {
  if (transport_or_command.find("ucx") != std::string_view::npos) ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

}  // namespace nacre::tests
