// SPDX-License-Identifier: Apache-2.0
// One rank's endpoint of a job of several hosts: shared memory within its own host, sockets or UCX to the others.
#include "transport/auto/endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nacre/assert.hpp>

#include "base/clock.hpp"

namespace nacre::transport::auto_transport {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::hours long_time{1};
constexpr std::chrono::milliseconds poll_interval{1};

/// The capabilities that both endpoints have.
capabilities common(const capabilities& one, const capabilities& other) {
  NACRE_EXPECT(one.virtual_time == other.virtual_time, "both ends live in one kind of time");
  capabilities result = one;
  result.concurrent_submit = one.concurrent_submit && other.concurrent_submit;
  result.by_pointer = one.by_pointer && other.by_pointer;
  result.separate_channels = one.separate_channels && other.separate_channels;
  result.separate_processes = one.separate_processes || other.separate_processes;
  result.direct_memory = one.direct_memory || other.direct_memory;
  result.payload_bytes_max = std::min(one.payload_bytes_max, other.payload_bytes_max);
  return result;
}

std::uint64_t to_ticks(std::chrono::duration<double> time) {
  return static_cast<std::uint64_t>(time.count() * ticks_per_second());
}

}  // namespace

auto_endpoint::auto_endpoint(std::unique_ptr<endpoint> near, std::unique_ptr<endpoint> far, std::vector<bool> is_near)
    : near_(std::move(near)),
      far_(std::move(far)),
      is_near_(std::move(is_near)),
      declared_(common(near_->declared(), far_->declared())),
      idle_after_ticks_(to_ticks(far_idle_after)),
      poll_interval_ticks_(to_ticks(far_poll_interval)),
      watcher_([this] { watch_far_end(); }) {
  NACRE_EXPECT(near_->rank() == far_->rank() && is_near_.size() == near_->size(), "both ends are one rank's");
}

auto_endpoint::~auto_endpoint() { stop_watcher(); }

void auto_endpoint::submit(rank_id target, message_list& batch) {
  endpoint& end = end_to(target);
  end.submit(target, batch);
  if (&end == far_.get()) poll_far_.store(true, std::memory_order_relaxed);  // for the next poll, which comes later
}

bool auto_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  const bool near = near_->poll(arrived, messages_max);
  const std::uint64_t now = ticks();  // of several threads: a wrong difference is large, and polls the far end
  // relaxed: a submit, or a wait that returned before this poll, has set it; their callers order them
  if (poll_far_.load(std::memory_order_relaxed)) {
    poll_far_.store(false, std::memory_order_relaxed);  // a set that this overwrites came before the poll below
    far_active_at_ = now;
  } else if (now - far_active_at_ >= idle_after_ticks_ && now - far_polled_at_ < poll_interval_ticks_) {
    return near;
  }
  far_polled_at_ = now;
  const bool far = far_->poll(arrived, messages_max);
  if (far) far_active_at_ = now;
  return far || near;
}

bool auto_endpoint::reaches(rank_id peer) const noexcept {
  direct_memory* const direct_memory = end_to(peer).direct();
  return peer != rank() && direct_memory != nullptr && direct_memory->reaches(peer);
}

std::optional<registered_region> auto_endpoint::register_region(rank_id target, std::span<std::byte> bytes,
                                                                copy_way way) {
  return end_to(target).direct()->register_region(target, bytes, way);
}

void auto_endpoint::deregister(rank_id source, const registered_region& region) noexcept {
  end_to(source).direct()->deregister(source, region);
}

copy_outcome auto_endpoint::copy(const direct_copy& copy) {
  if (!reaches(copy.peer)) return copy_outcome::failed;
  endpoint& end = end_to(copy.peer);
  if (&end == far_.get()) poll_far_.store(true, std::memory_order_relaxed);  // see submit
  return end.direct()->copy(copy);
}

void auto_endpoint::stop(std::uint64_t tag) noexcept {
  for (const auto& end : {near_.get(), far_.get()}) {  // one of them has that copy
    if (end->direct() != nullptr) end->direct()->stop(tag);
  }
}

std::optional<direct_memory::ended_copy> auto_endpoint::take_ended() {
  for (const auto& end : {near_.get(), far_.get()}) {
    if (end->direct() == nullptr) continue;
    if (auto ended = end->direct()->take_ended()) return ended;
  }
  return std::nullopt;
}

void auto_endpoint::wait(std::chrono::nanoseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    sleep_requested_ = true;
  }
  request_.notify_one();
  near_->wait(timeout);
  poll_far_.store(true, std::memory_order_relaxed);  // for the poll that follows
}

void auto_endpoint::watch_far_end() {
  std::unique_lock lock(mutex_);
  for (;;) {
    request_.wait(lock, [this] { return sleep_requested_ || stop_; });
    if (stop_) return;
    sleep_requested_ = false;
    lock.unlock();
    far_->wait(long_time);
    near_->wake();
    lock.lock();
  }
}

void auto_endpoint::stop_watcher() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  request_.notify_one();
  far_->wake();  // kept for a wait that has not begun yet
  watcher_.join();
}

std::optional<failure> auto_endpoint::failed_at(endpoint& end) {
  // An end may be connected to peers that the other one serves; its failures of those do not count.
  auto first_failure = end.failed();
  while (first_failure && first_failure->peer && &end_to(*first_failure->peer) != &end) first_failure = end.failed();
  return first_failure;
}

std::optional<failure> auto_endpoint::failed() {
  auto first_failure = failed_at(*near_);
  return first_failure ? first_failure : failed_at(*far_);
}

void auto_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, long_time);
  // Both are flushed before either closes: a peer may need to be read on one end before it reads on the other.
  message_list unwanted;
  while (unsent() && steady_clock::now() < deadline) {
    if (!poll(unwanted, std::size_t{1} << 16)) wait(poll_interval);
    unwanted.clear();
  }
  stop_watcher();
  const auto left = [&] { return std::max<std::chrono::nanoseconds>(deadline - steady_clock::now(), poll_interval); };
  near_->close(left());
  far_->close(left());
}

}  // namespace nacre::transport::auto_transport
