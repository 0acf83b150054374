// SPDX-License-Identifier: Apache-2.0
// Finds further copies of this runtime in the process, as two shared libraries have that each hold libnacre.a.
#pragma once

#include <string>
#include <vector>

namespace nacre {

/// The files in the process that hold a copy of the runtime, in the order in which they were loaded, the program first.
/// Each copy carries a note (ELF's PT_NOTE), so that the loader's list of files tells them.
struct runtime_copies {
  std::vector<std::string> files;
  bool own_is_first = true;  ///< the code that asks is in the first of them
};
[[nodiscard]] runtime_copies find_runtime_copies();

/// Says once, on standard error, that there is another copy, which was loaded before the one that asks. Nothing passes
/// between copies: each has handlers and ranks of its own.
void tell_of_runtime_copies();

}  // namespace nacre
