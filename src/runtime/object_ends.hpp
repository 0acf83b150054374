// SPDX-License-Identifier: Apache-2.0
// The exception that a coroutine handler gets if its object ends while it waits for a message.
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
