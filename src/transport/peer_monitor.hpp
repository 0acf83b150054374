// SPDX-License-Identifier: Apache-2.0
// How an endpoint learns of failures by other ways than its data: from its peers' liveness sockets and the launcher.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "join/launch/launcher_connection.hpp"
#include "join/net/socket.hpp"
#include "transport/failure_queue.hpp"
#include "transport/transport.hpp"

namespace nacre::transport {

/// | event | the monitor | then |
/// |---|---|---|
/// | a liveness socket is readable | tells the endpoint in `poll` | the endpoint reads it: is the peer lost? |
/// | the endpoint has lost a peer | reports it to the launcher | a failure, announced if the launcher prints the line |
/// | the launcher ends the job, or ends | reads that in `poll` | a failure |
///
/// The endpoint polls it once in polls_apart polls, and in the first poll after a sleep or after `make_due`.
///
/// Threads: `make_due` and `any_failure` may be called by every thread. All else belongs to the thread that polls, or
/// to the holder of the endpoint's lock.
class peer_monitor {
 public:
  static constexpr std::uint32_t polls_apart = 1024;

  /// `launcher` may be null: there is none. Another endpoint of this rank may share it.
  peer_monitor(std::uint32_t ranks, std::shared_ptr<launch::launcher_connection> launcher);

  /// Throws setup_error.
  void watch(rank_id peer, int liveness_socket);
  /// An epoll instance: readable when `poll` has something to do.
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

  /// Whether the monitor must be polled in the endpoint's poll number `polls`.
  [[nodiscard]] bool due(std::uint32_t polls) const noexcept {
    // relaxed: set by this thread, or by one that has since told this thread that its wait is over
    return polls % polls_apart == 0 || due_.load(std::memory_order_relaxed);
  }
  void make_due() noexcept { due_.store(true, std::memory_order_relaxed); }  // see due

  /// Reads the launcher connection, and calls on_readable(rank number) for each peer whose liveness socket is readable.
  template <class OnReadable>
  void poll(OnReadable on_readable) {
    due_.store(false, std::memory_order_relaxed);  // a thread that sets it again wants another poll
    poll_launcher();
    ready_sockets ready;
    const std::size_t count = find_ready(ready);
    for (std::size_t i = 0; i < count; ++i) on_readable(ready[i]);
  }

  /// The endpoint has lost a peer: tells the launcher, and adds a failure.
  void report_lost(rank_id peer, std::string reason);
  /// The endpoint leaves the job: tells the launcher.
  void report_left();

  [[nodiscard]] bool any_failure() const noexcept { return failures_.any(); }
  [[nodiscard]] const launch::failure* first_failure() const noexcept { return failures_.first(); }
  [[nodiscard]] std::optional<launch::failure> take_failure() { return failures_.take(); }

 private:
  using ready_sockets = std::array<std::uint32_t, 32>;  // numbers of ranks

  void poll_launcher();
  std::size_t find_ready(ready_sockets& ready) noexcept;
  [[nodiscard]] bool launcher_prints() const noexcept { return launcher_ != nullptr && launcher_->open(); }

  std::uint32_t ranks_;
  std::shared_ptr<launch::launcher_connection> launcher_;
  net::unique_fd events_;  // epoll: liveness sockets, tagged by rank, and the launcher connection, tagged ranks_
  failure_queue failures_;
  std::atomic<bool> due_{false};
};

}  // namespace nacre::transport
