// SPDX-License-Identifier: Apache-2.0
// Reasons that end a job, or its start.
#include "join/launch/failure.hpp"

namespace nacre::launch {

std::string describe(const failure& failure) {
  return failure.peer ? "rank " + std::to_string(failure.peer->value()) + " " + failure.reason : failure.reason;
}

}  // namespace nacre::launch
