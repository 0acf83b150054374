// SPDX-License-Identifier: Apache-2.0
// Waits until the reader of a pipe has read all bytes that were written to the pipe.
#pragma once

#include <chrono>

namespace nacre {

/// Waits until the pipe behind `descriptor` is empty, and returns true; returns false when `timeout` is over first.
/// Returns true at once when the descriptor is no pipe. A process calls it before it ends, because some launchers stop
/// reading once they notice the end, and so lose the last line; the mpirun of MPICH does so now and then. The caller
/// flushes its buffers first.
bool drained(int descriptor, std::chrono::milliseconds timeout);

}  // namespace nacre
