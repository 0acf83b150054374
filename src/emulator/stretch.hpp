// SPDX-License-Identifier: Apache-2.0
// A coroutine handler that has begun and has not ended.
#pragma once

#include <cstdint>
#include <optional>

#include <nacre/emulator.hpp>
#include "emulator/node_loop.hpp"

namespace nacre::detail {

/// Lives at one address from the coroutine's start to its end, because the coroutine holds a reference to `node`.
struct node_loop::stretch {
  emulated_node node;
  std::uint16_t thread;  ///< the threads that may run it, as event::thread
  bool suspended = false;
  std::optional<emulated_task> task{};
};

}  // namespace nacre::detail
