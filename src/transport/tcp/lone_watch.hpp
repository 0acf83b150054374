// SPDX-License-Identifier: Apache-2.0
// Registers one socket with epoll only while a thread sleeps, because a registration costs the sender of each message.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace nacre::transport::tcp {

/// The epoll registration of the one socket that every poll reads: the socket of the only peer, or of the peer that
/// sends now. At each arrival on a registered socket the kernel runs a callback, which makes each send 0.3 us longer
/// (of 4 us). A rank that polls without a pause does not need that.
///
/// | state | before_sleep | after_sleep | on_arrival |
/// |---|---|---|---|
/// | unregistered | registered, a sleeper | - | - |
/// | registered, a sleeper | (one sleeper at a time) | registered, no sleeper | stays |
/// | registered, no sleeper | registered, a sleeper | - | unregistered after arrivals_before_unregistering |
///
/// Invariant: while a thread is between before_sleep, if that was true, and after_sleep, the socket is registered; for
/// writing, too, after set_blocked(true). Any thread calls before_sleep and after_sleep, only the polling thread calls
/// the others.
class lone_watch {
 public:
  lone_watch() = default;
  lone_watch(const lone_watch&) = delete;
  lone_watch& operator=(const lone_watch&) = delete;

  /// Takes over `descriptor`, which is not registered yet with the instance `events`.
  void attach(int events, int descriptor, std::uint64_t tag);
  /// Takes over a socket that is registered under that tag; for writing, too, when it is blocked.
  void adopt(int events, int descriptor, std::uint64_t tag, bool blocked);
  /// Gives the socket up, registered.
  void give_back();
  /// Gives the socket up, unregistered, because it is about to be closed. Does nothing without a socket.
  void detach();

  /// False: the kernel has no room for the registration, and nothing of the socket wakes a sleeper.
  [[nodiscard]] bool before_sleep();
  void after_sleep();
  /// Whether to wake sleepers when the socket becomes writable, too.
  void set_blocked(bool blocked);

  /// A poll has read bytes from the socket.
  void on_arrival() {
    // relaxed: a hint; unregister decides under the lock.
    if (registered_.load(std::memory_order_relaxed) && ++arrivals_ >= arrivals_before_unregistering) unregister();
  }

 private:
  static constexpr std::uint32_t arrivals_before_unregistering = 16;

  void reset(int events, int descriptor, std::uint64_t tag, bool blocked, bool registered);
  void unregister();
  [[nodiscard]] int try_to_tell_kernel(int operation) const noexcept;
  void tell_kernel(int operation);

  std::mutex mutex_;
  int events_ = -1;      // this and the next four: under mutex_
  int descriptor_ = -1;  // -1: nothing to watch
  std::uint64_t tag_ = 0;
  bool sleeping_ = false;
  bool blocked_ = false;
  std::atomic<bool> registered_{false};
  std::uint32_t arrivals_ = 0;  // since it was registered; of the polling thread
};

}  // namespace nacre::transport::tcp
