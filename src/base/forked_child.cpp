// SPDX-License-Identifier: Apache-2.0
// Processes that a rank has forked: they share its sockets and its memory with other ranks, and must use neither.
#include "base/forked_child.hpp"

#include <cstdio>
#include <cstdlib>

#include <nacre/error.hpp>

namespace nacre {

alignas(64) bool detail::in_forked_child = false;  // in a cache line that nobody writes

void mark_forked_child() noexcept { detail::in_forked_child = true; }

void throw_in_forked_child() {
  throw usage_error(
      "this process was forked by a rank and has no part in the job, whose sockets and memory belong to the rank: let "
      "it run another program (exec), or end");
}

void end_forked_child(int code) noexcept {
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace nacre
