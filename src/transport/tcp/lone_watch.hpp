// SPDX-License-Identifier: Apache-2.0
// Watches one socket for sleepers only, because watching costs the sender of every message that arrives.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace nacre::transport::tcp {

/// The registration with an epoll instance of the one socket that is read in every poll: that of the only peer, or of
/// the peer that messages come from just now. A registered socket runs the kernel's callback at each arrival, in the
/// time of the sender (0.3 us of 4). A rank that polls without a pause does not need it.
///
/// | state | before_sleep | after_sleep | on_arrival |
/// |---|---|---|---|
/// | unregistered | registered, occupied | | |
/// | registered, occupied | (one sleeper at a time) | registered, vacant | stays |
/// | registered, vacant | occupied | | unregistered after a while |
///
/// Invariant: while somebody is between before_sleep and after_sleep, the socket is registered, and for writing, too,
/// when set_blocked said so. before_sleep and after_sleep by any thread, the others by the one that polls.
class lone_watch {
 public:
  lone_watch() = default;
  lone_watch(const lone_watch&) = delete;
  lone_watch& operator=(const lone_watch&) = delete;

  /// Begins with `descriptor` in the instance `events`, under that tag. Unregistered.
  void attach(int events, int descriptor, std::uint64_t tag);
  /// Begins with a socket that is registered under that tag, for writing when it is blocked.
  void adopt(int events, int descriptor, std::uint64_t tag, bool blocked);
  /// Ends with the socket registered.
  void give_back();
  /// Ends with the socket unregistered, because it is about to be closed. Does nothing without one.
  void detach();

  void before_sleep();
  void after_sleep();
  /// Whether the end of a write is awaited.
  void set_blocked(bool blocked);

  /// Something has been read by polling.
  void on_arrival() {
    // A hint, without order: the lock decides.
    if (registered_.load(std::memory_order_relaxed) && ++arrivals_ >= arrivals_before_vacating) vacate();
  }

 private:
  static constexpr std::uint32_t arrivals_before_vacating = 16;

  void reset(int events, int descriptor, std::uint64_t tag, bool blocked, bool registered);
  void vacate();
  void tell_kernel(int operation);

  std::mutex mutex_;
  int events_ = -1;      // under mutex_, as the following
  int descriptor_ = -1;  // -1: nothing to watch
  std::uint64_t tag_ = 0;
  bool occupied_ = false;
  bool blocked_ = false;
  std::atomic<bool> registered_{false};
  std::uint32_t arrivals_ = 0;  // since registered; the poller's
};

}  // namespace nacre::transport::tcp
