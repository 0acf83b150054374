// SPDX-License-Identifier: Apache-2.0
// Waits until the reader of a pipe has read what was written to it.
#pragma once

#include <chrono>

namespace nacre {

/// True when nothing is left in the pipe behind `descriptor`, at once when that is no pipe; false when `timeout` is
/// over first. For a process about to end whose starter would otherwise notice the end before it reads the last line,
/// and then reads no more, as the mpirun of MPICH does now and then. Flush what is buffered before.
bool drained(int descriptor, std::chrono::milliseconds timeout);

}  // namespace nacre
