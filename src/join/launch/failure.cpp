// SPDX-License-Identifier: Apache-2.0
// Reasons that end a job, or its start.
#include "join/launch/failure.hpp"

namespace nacre::launch {

std::string describe(const failure& what) {
  return what.peer ? "rank " + std::to_string(what.peer->value()) + " " + what.reason : what.reason;
}

}  // namespace nacre::launch
