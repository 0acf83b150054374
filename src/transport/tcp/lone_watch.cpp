// SPDX-License-Identifier: Apache-2.0
// Registers one socket with epoll only while a thread sleeps, because a registration costs the sender of each message.
#include "transport/tcp/lone_watch.hpp"

#include <sys/epoll.h>

#include "join/net/watch.hpp"

namespace nacre::transport::tcp {

void lone_watch::attach(int events, int descriptor, std::uint64_t tag) {
  const std::scoped_lock lock(mutex_);
  reset(events, descriptor, tag, false, false);
}

void lone_watch::adopt(int events, int descriptor, std::uint64_t tag, bool blocked) {
  const std::scoped_lock lock(mutex_);
  reset(events, descriptor, tag, blocked, true);
}

void lone_watch::give_back() {
  const std::scoped_lock lock(mutex_);
  if (descriptor_ >= 0 && !registered_.load(std::memory_order_relaxed)) tell_kernel(EPOLL_CTL_ADD);  // see reset
  reset(-1, -1, 0, false, false);
}

void lone_watch::detach() {
  const std::scoped_lock lock(mutex_);
  if (descriptor_ >= 0 && registered_.load(std::memory_order_relaxed)) tell_kernel(EPOLL_CTL_DEL);  // see reset
  reset(-1, -1, 0, false, false);
}

void lone_watch::reset(int events, int descriptor, std::uint64_t tag, bool blocked, bool registered) {
  events_ = events;
  descriptor_ = descriptor;
  tag_ = tag;
  blocked_ = blocked;
  arrivals_ = 0;
  registered_.store(registered, std::memory_order_relaxed);  // written under the lock; a hint outside of it
}

bool lone_watch::before_sleep() {
  const std::scoped_lock lock(mutex_);
  sleeping_ = true;
  if (descriptor_ < 0 || registered_.load(std::memory_order_relaxed)) return true;  // written under the lock
  const bool is_registered = try_to_tell_kernel(EPOLL_CTL_ADD) == 0;
  registered_.store(is_registered, std::memory_order_relaxed);  // a hint outside of the lock
  return is_registered;
}

void lone_watch::after_sleep() {
  const std::scoped_lock lock(mutex_);
  sleeping_ = false;
}

void lone_watch::set_blocked(bool blocked) {
  const std::scoped_lock lock(mutex_);
  if (blocked_ == blocked) return;
  blocked_ = blocked;
  if (registered_.load(std::memory_order_relaxed)) tell_kernel(EPOLL_CTL_MOD);  // written under the lock
}

void lone_watch::unregister() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || sleeping_ || descriptor_ < 0) return;
  tell_kernel(EPOLL_CTL_DEL);
  registered_.store(false, std::memory_order_relaxed);  // a hint outside of the lock
  arrivals_ = 0;
}

int lone_watch::try_to_tell_kernel(int operation) const noexcept {
  return net::try_watch({.events = events_, .descriptor = descriptor_, .tag = tag_, .to_write = blocked_}, operation);
}

void lone_watch::tell_kernel(int operation) {
  if (const int error = try_to_tell_kernel(operation); error != 0) throw net::no_watch(error);
}

}  // namespace nacre::transport::tcp
