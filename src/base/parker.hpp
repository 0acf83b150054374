// SPDX-License-Identifier: Apache-2.0
// Puts one thread to sleep until another one wakes it, without losing a wake-up that came first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace nacre {

/// A place for one thread to sleep. It holds at most one token: unpark leaves it, park takes it.
///
/// | state | park_for | unpark |
/// |---|---|---|
/// | empty | sleeps as `parked` | token |
/// | token | takes it, empty, returns true at once | token |
/// | parked | (only one thread may park) | token, wakes the sleeper, which takes it |
///
/// What the waker wrote before unpark is visible to the thread whose park_for returned true. A sleeper looks for work
/// again after every return: tokens do not add up, and one may be left from work that has been found meanwhile.
class parker {
 public:
  parker() = default;
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;

  /// Sleeps until there is a token or `timeout` has passed; nanoseconds::max() waits for ever, zero or less only looks.
  /// Returns true when it took a token. At most one thread at a time may be in here.
  bool park_for(std::chrono::nanoseconds timeout);

  /// Leaves a token and wakes the sleeper if there is one. From any thread; a system call only when someone sleeps.
  void unpark() noexcept;

 private:
  enum state : std::int32_t { parked = -1, empty = 0, token = 1 };

  bool take_token() noexcept;

  std::atomic<std::int32_t> state_{empty};
};

}  // namespace nacre
