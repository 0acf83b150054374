// SPDX-License-Identifier: Apache-2.0
// Puts one thread to sleep until another one wakes it; a wake-up that comes before the sleep is not lost.
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
/// | token | takes the token, empty, returns true at once | token |
/// | parked | (only one thread may park) | token, wakes the sleeper, which takes the token |
///
/// Everything that the waker wrote before unpark is visible to the thread once its park_for returns true. A sleeper
/// must look for work again after every return: tokens do not add up, and one may be left from work that it has already
/// found.
class parker {
 public:
  parker() = default;
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;

  /// Sleeps until there is a token or `timeout` has passed; nanoseconds::max() waits for ever, zero or less does not
  /// sleep. Returns true when it took a token. At most one thread at a time may call it.
  bool park_for(std::chrono::nanoseconds timeout);

  /// Leaves a token and wakes the sleeper if there is one. Any thread. Makes a system call only when a thread sleeps.
  void unpark() noexcept;

 private:
  enum state : std::int32_t { parked = -1, empty = 0, token = 1 };

  bool take_token() noexcept;

  std::atomic<std::int32_t> state_{empty};
};

}  // namespace nacre
