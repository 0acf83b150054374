// SPDX-License-Identifier: Apache-2.0
// One rank's endpoint of a job of several hosts: shared memory within its own host, sockets or UCX to the others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "transport/transport.hpp"

namespace nacre::transport::auto_transport {

/// Two endpoints as one: the near one reaches the peers of this host, the far one all others. Each peer is reached by
/// one of them alone, which keeps the order of its channels.
///
/// The caller of `wait` sleeps on the near end, which wakes the faster of the two. The watcher, a thread of this
/// object, sleeps on the far end at the same time and wakes the near one:
///
/// | watcher | wait is called | the far end returns from its wait |
/// |---|---|---|
/// | parked | asleep on the far end | |
/// | asleep on the far end | asked to go on | wakes the near end; asleep again if it was asked to go on, else parked |
///
/// To poll the far end may take a system call; to poll the near end takes a few loads. So once the far end has been
/// quiet for `far_idle_after`, it is polled only every `far_poll_interval`. A submit to it, and every wait, make the
/// next poll include it, so that the message that has woken a rank is found.
///
/// Invariant: from the moment that wait begins to sleep, an event of the far end that has not been polled finds the
/// watcher asleep there or about to be. The watcher wakes at most once for each wait, so an event that nobody polls
/// does not make it spin.
class auto_endpoint final : public endpoint, private direct_memory {
 public:
  static constexpr std::chrono::microseconds far_idle_after{100};
  static constexpr std::chrono::microseconds far_poll_interval{2};

  /// `is_near[rank]`: `near` reaches that peer; the own rank is near. Both endpoints have the same rank and size.
  auto_endpoint(std::unique_ptr<endpoint> near, std::unique_ptr<endpoint> far, std::vector<bool> is_near);
  auto_endpoint(const auto_endpoint&) = delete;
  auto_endpoint& operator=(const auto_endpoint&) = delete;
  ~auto_endpoint() override;

  rank_id rank() const noexcept override { return near_->rank(); }
  std::uint32_t size() const noexcept override { return near_->size(); }
  const capabilities& declared() const noexcept override { return declared_; }

  void submit(rank_id target, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override { near_->wake(); }
  std::optional<failure> failed() override;
  direct_memory* direct() noexcept override { return declared_.direct_memory ? this : nullptr; }
  bool unsent() const noexcept override { return near_->unsent() || far_->unsent(); }
  bool under_way() override {
    const bool near =
        near_->under_way();  // both each time: each call is about the bytes that had left before the last one
    return far_->under_way() || near;
  }
  void close(std::chrono::nanoseconds timeout) override;

 private:
  // Each region and each copy belongs to the endpoint that reaches the peer.
  bool reaches(rank_id peer) const noexcept override;
  std::optional<registered_region> register_region(rank_id target, std::span<std::byte> bytes, copy_way way) override;
  void deregister(rank_id source, const registered_region& region) noexcept override;
  copy_outcome copy(const direct_copy& direct_copy) override;
  void stop(std::uint64_t tag) noexcept override;
  std::optional<ended_copy> take_ended() override;

  [[nodiscard]] endpoint& end_to(rank_id peer) const noexcept { return is_near_[peer.value()] ? *near_ : *far_; }
  [[nodiscard]] std::optional<failure> failed_at(endpoint& end);
  void watch_far_end();
  void stop_watcher();

  std::unique_ptr<endpoint> near_;
  std::unique_ptr<endpoint> far_;
  std::vector<bool> is_near_;  // by rank
  capabilities declared_;
  std::uint64_t idle_after_ticks_;
  std::uint64_t poll_interval_ticks_;
  std::uint64_t far_active_at_ = 0;  // in ticks: the last movement there, or submit to it
  std::uint64_t far_polled_at_ = 0;  // in ticks
  std::atomic<bool> poll_far_{true};

  std::mutex mutex_;
  std::condition_variable request_;
  bool sleep_requested_ = false;  // under mutex_, as the following
  bool stop_ = false;
  std::thread watcher_;
};

}  // namespace nacre::transport::auto_transport
