// SPDX-License-Identifier: Apache-2.0
// The watch over the peers of an endpoint: the epoll instance, and what the launcher is told and tells.
#include "transport/peer_monitor.hpp"

#include <sys/epoll.h>

#include <utility>

#include "join/net/watch.hpp"

namespace nacre::transport {

peer_monitor::peer_monitor(std::uint32_t ranks, std::shared_ptr<launch::launcher_connection> launcher)
    : ranks_(ranks), launcher_(std::move(launcher)), events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (launcher_ == nullptr || !launcher_->open()) return;
  net::watch({.events = events_.get(), .descriptor = launcher_->descriptor(), .tag = ranks_}, EPOLL_CTL_ADD);
}

void peer_monitor::watch(rank_id peer, int liveness_socket) {
  net::watch({.events = events_.get(), .descriptor = liveness_socket, .tag = peer.value()}, EPOLL_CTL_ADD);
}

void peer_monitor::report_lost(rank_id peer, std::string reason) {
  if (launcher_ != nullptr) launcher_->report_lost(peer, reason);
  failures_.push({.peer = peer, .reason = std::move(reason), .announced = launcher_prints()});
}

void peer_monitor::report_left() {
  if (launcher_ != nullptr) launcher_->report_left();
}

void peer_monitor::poll_launcher() {
  if (launcher_ == nullptr) return;
  auto end = launcher_->poll();
  if (!end) return;
  const auto peer = end->peer ? std::optional<rank_id>(*end->peer) : std::nullopt;
  failures_.push({.peer = peer, .reason = std::move(end->reason), .announced = launcher_prints()});
}

std::size_t peer_monitor::find_ready(ready_sockets& ready) noexcept {
  std::array<epoll_event, std::tuple_size_v<ready_sockets>> events;
  const int found_count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::size_t count = 0;
  for (int i = 0; i < found_count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    if (tag != ranks_) ready[count++] = static_cast<std::uint32_t>(tag);
  }
  return count;
}

}  // namespace nacre::transport
