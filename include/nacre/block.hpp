// SPDX-License-Identifier: Apache-2.0
// Pooled memory for messages and small objects that one thread allocates and another releases.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace nacre {

/// The system has no memory for a block.
class out_of_blocks : public std::bad_alloc {
 public:
  explicit out_of_blocks(std::size_t bytes) noexcept;
  /// One line: how much was asked for, what large blocks hold, and what to try.
  [[nodiscard]] const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 240> text_;
};

/// Returns at least `bytes` bytes, aligned to 16, uninitialised. Never null: throws out_of_blocks when the system has
/// no memory. Up to 64 KiB come from a pool of the calling thread (a few nanoseconds, no lock, no atomic
/// read-modify-write), which keeps what it once took from the system, so that it holds the most that was ever live at
/// once; bounding that is the business of credits. Up to 64 MiB come from pages that all threads share, of which up to
/// 64 MiB in all are kept for reuse, and returned when nobody has needed them for a second. Larger blocks come from
/// operator new. May be called from any thread.
[[nodiscard]] void* allocate_block(std::size_t bytes);

/// Releases a block from allocate_block; null does nothing. May be called from ANY thread: the block goes back to the
/// pool of the thread that allocated it, also when that thread has ended. Aborts on a block that was released already,
/// unless it has been given out again since.
void release_block(void* block) noexcept;

/// From now on, threads that have not used a block yet take theirs from operator new. For comparisons, and for memory
/// checkers; called at the begin of main.
void disable_block_pools() noexcept;

}  // namespace nacre
