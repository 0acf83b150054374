// SPDX-License-Identifier: Apache-2.0
// The arguments of `nacre run` that are about images.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tool/run_command.hpp"
#include "tool/run_job.hpp"

namespace nacre::tool {

/// The options of the ranks that are about images, from the same sources as theirs.
struct image_options {
  std::string folder;
  std::string restore;
  int signal = 0;  ///< asks for a last image; 0: none does, or there is no folder
  std::chrono::milliseconds grace{};
};

/// How this process sees the files that ranks name.
struct view_of_ranks {
  std::string config;      ///< path of the file with configuration that the launcher hands over; may be empty
  std::string folder;      ///< that the ranks run in; empty: the current one
  bool is_remote = false;  ///< on other hosts, which may have files that this one has not
};

// All throw setup_error.
[[nodiscard]] image_options image_options_of(const run_arguments& given, const view_of_ranks& view);
[[nodiscard]] survival parse_survive(const run_arguments& given, const image_options& images);
[[nodiscard]] std::uint32_t parse_restarts(const std::string& text);

}  // namespace nacre::tool
