// SPDX-License-Identifier: Apache-2.0
// What a coroutine handler gets that waits for a message when its object ends.
#pragma once

#include <nacre/future.hpp>

namespace nacre::detail {

/// Where nobody waits for the handler's result, it is reported like a message that is not delivered, and the job goes
/// on.
class object_ends final : public call_error {
 public:
  using call_error::call_error;
};

}  // namespace nacre::detail
