// SPDX-License-Identifier: Apache-2.0
// A stack of its own for code that must be suspended in the middle, known to the sanitizers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace nacre {

/// Runs `body` on a stack of its own, as a coroutine of its resumer (Boost.Context). One thread. An exception that
/// leaves the body is thrown again by the resume that saw it. A fiber that is destroyed before its body has ended
/// unwinds it.
class fiber {
 public:
  /// Thrown through the body of a fiber that is destroyed early. A catch of everything must let it pass.
  struct unwind {};

  /// `stack_bytes`: as for the threads of a program. Only what is touched takes memory.
  explicit fiber(std::function<void()> body, std::size_t stack_bytes = 8u << 20);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber();

  /// From outside: runs the body until it suspends or ends. Not after it has ended.
  void resume();
  /// From inside the body: goes back to the resumer.
  void suspend();
  [[nodiscard]] bool ended() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace nacre
