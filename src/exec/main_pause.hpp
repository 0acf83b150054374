// SPDX-License-Identifier: Apache-2.0
// Main waits and goes on, in the trace, and for its phases.
#pragma once

#include "exec/thread_context.hpp"

namespace nacre {

/// `main`, the thread context of the application, is about to wait, and its phases with it. Returns the innermost one,
/// for continue_main. Own thread.
[[nodiscard]] detail::open_phase* pause_main(thread_context& main);
void continue_main(thread_context& main, detail::open_phase* paused);

}  // namespace nacre
