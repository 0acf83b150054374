// SPDX-License-Identifier: Apache-2.0
// Coroutine handlers of emulated nodes, which wait for a message or for a time.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace nacre {

/// The return type of a node's handler that may wait: `co_await here.receive<T>()`, `co_await here.sleep(t)`. A handler
/// that waits occupies no thread of its node. Each of its stretches costs as much as a handler does. Arguments are
/// taken by value; `here` stays valid until the coroutine ends.
class [[nodiscard]] emulated_task {
 public:
  /// For the compiler.
  struct promise_type {
    std::exception_ptr error;

    emulated_task get_return_object() noexcept {
      return emulated_task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };

  explicit emulated_task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  emulated_task(emulated_task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  emulated_task& operator=(emulated_task&&) = delete;
  ~emulated_task() {
    if (handle_) handle_.destroy();
  }

  /// For the emulator: continues the coroutine. Returns true when it has ended; rethrows what it threw.
  bool resume() {
    handle_.resume();
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return handle_.done();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace nacre
