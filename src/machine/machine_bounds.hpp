// SPDX-License-Identifier: Apache-2.0
// The bounds of a machine's members, which are the same for the emulator and for simulated ranks.
#pragma once

#include <string>

#include <nacre/emulated_machine.hpp>

namespace nacre::machine {

/// The beginning of a refusal, and its reason.
struct refusal_words {
  std::string subject;
  std::string reason;
};

/// Throws setup_error when a grid has extents or nodes out of bounds.
void check_grid(const coordinates& grid, const refusal_words& words);

/// Throws setup_error when a member of the machine is out of its bounds, or two contradict each other; the text names
/// the member and what it may be.
void check_members(const emulated_machine& machine, const refusal_words& words);

}  // namespace nacre::machine
