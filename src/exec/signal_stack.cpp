// SPDX-License-Identifier: Apache-2.0
// Takes memory for a signal stack and gives it back.
#include "exec/signal_stack.hpp"

#include <sys/mman.h>

#include <csignal>
#include <cstddef>

namespace nacre {
namespace {

/// Room for the frame of the kernel, of up to 11 KiB where processors have wide registers, for the runtime's handler,
/// and for one of the program that prints a backtrace. Untouched pages take no memory.
constexpr std::size_t stack_bytes = std::size_t{128} << 10;

}  // namespace

signal_stack::signal_stack() noexcept {
  stack_t known{};
  if (::sigaltstack(nullptr, &known) != 0 || (known.ss_flags & SS_DISABLE) == 0) return;
  void* const memory =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = stack_bytes;
  if (::sigaltstack(&stack, nullptr) == 0) {
    memory_ = memory;
  } else {
    ::munmap(memory, stack_bytes);
  }
}

signal_stack::~signal_stack() {
  if (memory_ == nullptr) return;
  stack_t known{};
  if (::sigaltstack(nullptr, &known) == 0 && known.ss_sp == memory_) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(memory_, stack_bytes);
}

}  // namespace nacre
