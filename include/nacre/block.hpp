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
  /// One line: the bytes asked for, the bytes that large blocks hold, and a remedy.
  [[nodiscard]] const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 240> text_;
};

/// Returns at least `bytes` bytes, aligned to 16, uninitialised. Never null: throws out_of_blocks when the system has
/// no memory. May be called from any thread.
/// Blocks of up to 64 KiB come from a pool of the calling thread, in a few nanoseconds, without a lock or an atomic
/// read-modify-write. The pool returns no memory to the system, so it holds as much as was ever live at once; credits
/// bound that amount. Blocks of up to 64 MiB come from pages that all threads share. Up to 64 MiB of these pages in all
/// are kept for reuse; pages that no thread has needed for a second are returned. Larger blocks come from operator new.
[[nodiscard]] void* allocate_block(std::size_t bytes);

/// Releases a block from allocate_block; null has no effect. May be called from ANY thread: the block goes back to the
/// pool of the thread that allocated it, also when that thread has ended. Aborts on a block that was released already,
/// unless it has been allocated again since.
void release_block(void* block) noexcept;

/// Makes threads that have not used a block yet allocate from operator new. For comparisons and memory checkers; to be
/// called at the beginning of main.
void disable_block_pools() noexcept;

}  // namespace nacre
