// SPDX-License-Identifier: Apache-2.0
// The tables of nodes' handlers and of their states, numbered alike in all processes of one program.
#pragma once

#include <span>

#include <nacre/emulator/handler.hpp>

namespace nacre::emulator {

/// All handlers by number; the first are the emulator's own. The first call numbers them; any thread.
[[nodiscard]] std::span<const detail::emulated_handler* const> handler_table();
/// All types of states by number.
[[nodiscard]] std::span<const detail::emulated_state* const> state_table();

}  // namespace nacre::emulator
