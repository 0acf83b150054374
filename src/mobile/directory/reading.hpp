// SPDX-License-Identifier: Apache-2.0
// Read access to the directory for the length of a scope.
#pragma once

#include "exec/lane.hpp"

namespace nacre {

/// Lets the application's thread read the directory for one operation; workers are readers all the time. Scopes may
/// nest: user code called within an operation may begin another operation.
class reading {
 public:
  explicit reading(lane& on) : on_(on.role() == lane_role::application && !on.reader().is_online() ? &on : nullptr) {
    if (on_ != nullptr) on_->reader().online();
  }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;
  ~reading() {
    if (on_ != nullptr) on_->reader().offline();
  }

 private:
  lane* on_;
};

}  // namespace nacre
