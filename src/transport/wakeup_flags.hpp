// SPDX-License-Identifier: Apache-2.0
// The agreement between an endpoint's wait and those that must end it: wake, and a message to the own rank.
#pragma once

#include <atomic>

#include <nacre/message.hpp>

#include "base/cache_line.hpp"

namespace nacre::transport {

/// No wakeup is lost: `wait` stores sleeping_ before it loads the other two flags, a waker stores one of these before
/// it loads sleeping_, and all of these are seq_cst. So the waiting thread does not sleep, or the waker rings.
///
/// | thread | calls |
/// |---|---|
/// | in wait | begin_wait; then it sleeps if nothing_waits, else not; then end_wait |
/// | in wake, any thread | note_wake, and rings if that says so |
/// | in submit to the own rank | note_own, then wake; `poll` calls take_own |
class wakeup_flags {
 public:
  void begin_wait() noexcept { sleeping_.store(true); }
  [[nodiscard]] bool nothing_waits() const noexcept { return !woken_.load() && !own_waiting_.load(); }
  void end_wait() noexcept {
    sleeping_.store(false, std::memory_order_relaxed);  // a wake that still sees true makes the next wait return early
    woken_.exchange(false);  // an exchange, so that the caller sees all that the waker did before
  }

  /// True: a thread sleeps, or is about to, and this call is the one that must ring.
  [[nodiscard]] bool note_wake() noexcept {
    woken_.store(true);
    return sleeping_.load() && sleeping_.exchange(false);
  }

  void note_own() noexcept { own_waiting_.store(true); }

  /// Moves the messages to the own rank behind `arrived`. True: there were some. In poll.
  [[nodiscard]] bool take_own(message_list& messages, message_list& arrived) noexcept {
    if (messages.empty()) return false;
    own_waiting_.store(false, std::memory_order_relaxed);  // a wait that still sees true returns early, once
    arrived.append(messages);
    return true;
  }

 private:
  // Shared by wait, wake and poll, which three threads may run at a time.
  alignas(cache_line_bytes) std::atomic<bool> sleeping_{false};
  std::atomic<bool> woken_{false};
  std::atomic<bool> own_waiting_{false};
};

}  // namespace nacre::transport
