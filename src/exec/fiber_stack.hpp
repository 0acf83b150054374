// SPDX-License-Identifier: Apache-2.0
// The memory of fibers' stacks.
#pragma once

#include <cstddef>

#include <boost/context/stack_context.hpp>

namespace nacre {

/// Allocates one stack. Below it lies a page that nobody may touch, so that an overflow is a SIGSEGV; but such a page
/// splits a mapping of the kernel, and a process may have so many (vm.max_map_count). When the stacks of a process have
/// used half of these, further ones have no such page: their fibers ask `is_sound` when they suspend and end.
///
/// A copy deallocates what the original has allocated. Any thread.
class fiber_stack {
 public:
  explicit fiber_stack(std::size_t bytes) noexcept : bytes_(bytes) {}

  /// Throws std::bad_alloc when the kernel has no memory, or no mapping, left.
  [[nodiscard]] boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack) const noexcept;

  /// As asked for, or 1 MiB where the process may not have that much address space.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool guarded() const noexcept { return guarded_; }
  /// Whether a stack without a guard seems not to have overflowed: `top` lies well inside of it, and its last words
  /// have never been written. `top`: an address in the present frame.
  [[nodiscard]] bool is_sound(const void* top) const noexcept;

 private:
  std::size_t bytes_;
  const char* end_ = nullptr;  // the lowest address
  bool guarded_ = false;
};

/// Tells that a stack has overflowed, and aborts.
[[noreturn]] void end_for_overflow(std::size_t bytes) noexcept;

}  // namespace nacre
