// SPDX-License-Identifier: Apache-2.0
// One rank's end of a job of several hosts: shared memory to the ranks of its own host, sockets to the others.
#include "transport/mixed/endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::transport::mixed {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::hours long_time{1};
constexpr std::chrono::milliseconds look_again{1};

/// What both can do.
capabilities common(const capabilities& one, const capabilities& other) {
  NACRE_EXPECT(one.virtual_time == other.virtual_time, "both ends live in one kind of time");
  capabilities result = one;
  result.concurrent_submit = one.concurrent_submit && other.concurrent_submit;
  result.by_pointer = one.by_pointer && other.by_pointer;
  result.separate_channels = one.separate_channels && other.separate_channels;
  result.separate_processes = one.separate_processes || other.separate_processes;
  result.payload_bytes_max = std::min(one.payload_bytes_max, other.payload_bytes_max);
  return result;
}

}  // namespace

mixed_endpoint::mixed_endpoint(std::unique_ptr<endpoint> near, std::unique_ptr<endpoint> far, std::vector<bool> is_near)
    : near_(std::move(near)),
      far_(std::move(far)),
      is_near_(std::move(is_near)),
      declared_(common(near_->declared(), far_->declared())),
      watcher_([this] { watch_far_end(); }) {
  NACRE_EXPECT(near_->rank() == far_->rank() && is_near_.size() == near_->size(), "both ends are one rank's");
}

mixed_endpoint::~mixed_endpoint() { stop_watcher(); }

bool mixed_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  const bool near = near_->poll(arrived, messages_max);
  return far_->poll(arrived, messages_max) || near;
}

void mixed_endpoint::wait(std::chrono::nanoseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    go_on_ = true;
  }
  asked_.notify_one();
  near_->wait(timeout);
}

void mixed_endpoint::watch_far_end() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return go_on_ || stop_; });
    if (stop_) return;
    go_on_ = false;
    lock.unlock();
    far_->wait(long_time);
    near_->wake();
    lock.lock();
  }
}

void mixed_endpoint::stop_watcher() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  asked_.notify_one();
  far_->wake();  // kept for a wait that has not begun yet
  watcher_.join();
}

std::optional<failure> mixed_endpoint::failed_at(endpoint& end) {
  // An end may be connected to peers that the other one serves; what it says of them does not matter.
  auto what = end.failed();
  while (what && what->peer && &end_to(*what->peer) != &end) what = end.failed();
  return what;
}

std::optional<failure> mixed_endpoint::failed() {
  auto what = failed_at(*near_);
  return what ? what : failed_at(*far_);
}

void mixed_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, long_time);
  // Both are flushed before either takes leave: a peer may need to be read here before it reads there.
  message_list unwanted;
  while (unsent() && steady_clock::now() < deadline) {
    if (!poll(unwanted, std::size_t{1} << 16)) wait(look_again);
    unwanted.clear();
  }
  stop_watcher();
  const auto left = [&] { return std::max<std::chrono::nanoseconds>(deadline - steady_clock::now(), look_again); };
  near_->close(left());
  far_->close(left());
}

}  // namespace nacre::transport::mixed
