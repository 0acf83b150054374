// SPDX-License-Identifier: Apache-2.0
// Fibers over Boost.Context, with the calls that tell address and thread sanitizer about stack switches.
#include "exec/fiber.hpp"

#include <cxxabi.h>
#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <nacre/assert.hpp>

#include "base/sanitized.hpp"
#include "exec/fiber_stack.hpp"

#if NACRE_UNDER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if NACRE_UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace nacre {
namespace {

/// The exceptions that code has caught and not let go yet, and the number of those under way. The C++ ABI keeps both
/// for each thread (Itanium C++ ABI: exception handling, 2.2.2); a body that is suspended inside a catch has its own.
class exceptions_of_stack {
 public:
  /// Exchanges them with those of this thread.
  void exchange() noexcept {
    static_assert(sizeof(*this) == 2 * sizeof(void*));
    auto* const of_thread = reinterpret_cast<exceptions_of_stack*>(abi::__cxa_get_globals());
    std::swap(*this, *of_thread);
  }

 private:
  void* caught_ = nullptr;
  unsigned int under_way_ = 0;
};

}  // namespace

struct fiber::state {
  std::function<void()> body;
  boost::context::fiber inside;   // the suspended body, while outside runs
  boost::context::fiber outside;  // the resumer, while the body runs
  std::exception_ptr error;
  exceptions_of_stack exceptions;  // of the body, while outside runs, and the other way round
  bool ended = false;
  bool unwinding = false;
  fiber_stack stack;
#if NACRE_UNDER_ASAN
  void* outside_fake_stack = nullptr;
  void* inside_fake_stack = nullptr;
  const void* outside_stack = nullptr;
  std::size_t outside_bytes = 0;
  const void* inside_stack = nullptr;
  std::size_t inside_bytes = 0;
#endif
#if NACRE_UNDER_TSAN
  void* tsan_outside = nullptr;
  void* tsan_inside = nullptr;
#endif

  explicit state(std::size_t bytes) : stack(bytes) {}
  /// In the body, which is about to leave its stack.
  void look_at_stack() const noexcept {
    if (!stack.guarded() && !stack.is_sound(__builtin_frame_address(0))) end_for_overflow(stack.bytes());
  }

  void about_to_enter() {
#if NACRE_UNDER_ASAN
    __sanitizer_start_switch_fiber(&outside_fake_stack, inside_stack, inside_bytes);
#endif
#if NACRE_UNDER_TSAN
    tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_inside, 0);
#endif
  }
  void entered() {
#if NACRE_UNDER_ASAN
    __sanitizer_finish_switch_fiber(inside_fake_stack, &outside_stack, &outside_bytes);
#endif
  }
  void about_to_leave(bool for_ever) {
    static_cast<void>(for_ever);
#if NACRE_UNDER_ASAN
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &inside_fake_stack, outside_stack, outside_bytes);
#endif
#if NACRE_UNDER_TSAN
    __tsan_switch_to_fiber(tsan_outside, 0);
#endif
  }
  void left() {
#if NACRE_UNDER_ASAN
    __sanitizer_finish_switch_fiber(outside_fake_stack, nullptr, nullptr);
#endif
  }
};

fiber::fiber(std::function<void()> body, std::size_t stack_bytes) : state_(std::make_unique<state>(stack_bytes)) {
  state* const self = state_.get();
  self->body = std::move(body);
  boost::context::stack_context stack = self->stack.allocate();
#if NACRE_UNDER_ASAN
  self->inside_stack = static_cast<char*>(stack.sp) - stack.size;
  self->inside_bytes = stack.size;
  // The memory may have been the stack of a fiber that ended far below its entry: what was known of its frames is over.
  __asan_unpoison_memory_region(self->inside_stack, self->inside_bytes);
#endif
#if NACRE_UNDER_TSAN
  self->tsan_inside = __tsan_create_fiber(0);
#endif
  const boost::context::preallocated place(stack.sp, stack.size, stack);
  self->inside = boost::context::fiber(std::allocator_arg, place, self->stack, [self](boost::context::fiber&& outside) {
    self->entered();
    self->outside = std::move(outside);
    try {
      if (!self->unwinding) self->body();
    } catch (const unwind&) {
    } catch (...) {
      self->error = std::current_exception();
    }
    self->ended = true;
    self->look_at_stack();
    self->about_to_leave(true);
    return std::move(self->outside);
  });
}

fiber::~fiber() {
  if (!state_->ended) {
    state_->unwinding = true;
    resume();
  }
#if NACRE_UNDER_TSAN
  __tsan_destroy_fiber(state_->tsan_inside);
#endif
}

bool fiber::ended() const noexcept { return state_->ended; }

void fiber::resume() {
  NACRE_EXPECT(!state_->ended, "a fiber that has ended cannot go on");
  state_->about_to_enter();
  state_->exceptions.exchange();
  state_->inside = std::move(state_->inside).resume();
  state_->exceptions.exchange();
  state_->left();
  if (state_->error) std::rethrow_exception(std::exchange(state_->error, nullptr));
}

void fiber::suspend() {
  state_->look_at_stack();
  state_->about_to_leave(false);
  state_->outside = std::move(state_->outside).resume();
  state_->entered();
  if (state_->unwinding) throw unwind{};
}

}  // namespace nacre
