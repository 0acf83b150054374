// SPDX-License-Identifier: Apache-2.0
// The memory of fibers' stacks.
#include "exec/fiber_stack.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>

#include <boost/context/stack_traits.hpp>

#include <sys/mman.h>

#include "base/print_error.hpp"

namespace nacre {
namespace {

constexpr std::size_t reserve = 8192;  // below a stack without a guard: enough to say that it has overflowed
constexpr std::size_t bytes_under_limit = 1 << 20;  // where the system refuses more: ulimit -v, strict overcommit
constexpr std::size_t watched = 256;                // bytes at the end; reading them takes no memory

std::size_t guarded_max() {
  static const std::size_t count = [] {
    std::size_t mappings_max = 65530;  // the kernel's default
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings_max;
    return mappings_max / 4;
  }();
  return count;
}
std::atomic<std::size_t> guarded_count{0};  // relaxed: a bound that orders nothing

}  // namespace

boost::context::stack_context fiber_stack::allocate() {
  guarded_ = guarded_count.fetch_add(1, std::memory_order_relaxed) < guarded_max();
  if (!guarded_) guarded_count.fetch_sub(1, std::memory_order_relaxed);
  const std::size_t page = boost::context::stack_traits::page_size();
  std::size_t size = 0;
  const auto map = [&] {
    size = (bytes_ + page - 1) / page * page + (guarded_ ? page : reserve);
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  void* begin = map();
  if (begin == MAP_FAILED && bytes_ > bytes_under_limit) {
    bytes_ = bytes_under_limit;
    begin = map();
  }
  if (begin == MAP_FAILED || (guarded_ && ::mprotect(begin, page, PROT_NONE) != 0)) {
    if (guarded_) guarded_count.fetch_sub(1, std::memory_order_relaxed);
    if (begin != MAP_FAILED) ::munmap(begin, size);
    throw std::bad_alloc();
  }
  // A huge page would be memory that nobody needs, and keep neighbours without a guard from being one mapping. An error
  // does no harm.
  ::madvise(begin, size, MADV_NOHUGEPAGE);
  end_ = static_cast<const char*>(begin);
  boost::context::stack_context stack;
  stack.size = size;
  stack.sp = static_cast<char*>(begin) + size;
  return stack;
}

void fiber_stack::deallocate(boost::context::stack_context& stack) const noexcept {
  if (guarded_) guarded_count.fetch_sub(1, std::memory_order_relaxed);
  ::munmap(static_cast<char*>(stack.sp) - stack.size, stack.size);
}

bool fiber_stack::is_sound(const void* top) const noexcept {
  return std::less<>()(end_ + reserve, static_cast<const char*>(top)) &&
         std::all_of(end_, end_ + watched, [](char each) { return each == 0; });
}

void end_for_overflow(std::size_t bytes) noexcept {
  print_error(
      "a simulated rank has used more than its stack of {} KiB: too deep a recursion, or too large a local "
      "variable",
      bytes / 1024);
  std::abort();
}

}  // namespace nacre
