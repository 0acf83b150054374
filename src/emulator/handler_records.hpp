// SPDX-License-Identifier: Apache-2.0
// All that may be recorded of each handler that a block runs.
#pragma once

#include "emulator/block_path.hpp"
#include "emulator/block_profile.hpp"

namespace nacre::emulator {

/// The records of a block, or null where they are not kept. They outlive the loop that adds to them.
struct handler_records {
  block_path* path = nullptr;        ///< keeps each handler
  block_profile* profile = nullptr;  ///< adds up the time of handlers

  [[nodiscard]] bool any() const noexcept { return path != nullptr || profile != nullptr; }
  void add(const path_record& one) const {
    if (profile != nullptr) profile->add(one.node, one.start, one.end);
    if (path != nullptr) path->add(one);
  }
};

}  // namespace nacre::emulator
