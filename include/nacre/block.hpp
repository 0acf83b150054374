// SPDX-License-Identifier: Apache-2.0
// Pooled memory for messages and small objects that one thread allocates and another releases.
#pragma once

#include <cstddef>

namespace nacre {

/// Returns at least `bytes` bytes, aligned to 16, uninitialised. Never null: throws std::bad_alloc when the system has
/// no memory. Up to 64 KiB come from a pool of the calling thread (a few nanoseconds, no lock, no atomic
/// read-modify-write); larger blocks come from operator new. A pool keeps what it once took from the system, so that it
/// holds the most that was ever live at once; bounding that is the business of credits. May be called from any thread.
[[nodiscard]] void* allocate_block(std::size_t bytes);

/// Releases a block from allocate_block; null does nothing. May be called from ANY thread: the block goes back to the
/// pool of the thread that allocated it, also when that thread has ended. Aborts on a block that was released already,
/// unless it has been given out again since.
void release_block(void* block) noexcept;

}  // namespace nacre
