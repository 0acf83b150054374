// SPDX-License-Identifier: Apache-2.0
// The tables of nodes' handlers and of their states, numbered alike in all processes of one program.
#pragma once

#include <span>

#include <nacre/emulator/handler.hpp>

namespace nacre::emulator {

/// All handlers by number; the first are the emulator's own. They are numbered when a job begins; any thread.
[[nodiscard]] std::span<const detail::emulated_handler* const> handler_table();
/// All types of states by number.
[[nodiscard]] std::span<const detail::emulated_state* const> state_table();

/// Throws usage_error where a library that was loaded while the job ran has brought rows.
void all_must_be_numbered();

}  // namespace nacre::emulator
