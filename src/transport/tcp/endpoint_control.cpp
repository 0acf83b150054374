// SPDX-License-Identifier: Apache-2.0
// Control beside the data path of a rank's endpoint: failures, the listener, the launcher connection, and the shutdown.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "transport/tcp/endpoint.hpp"

namespace nacre::transport::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds look_again{1};  // while closing: no event tells of acknowledgements

}  // namespace

void tcp_endpoint::on_state_change(peer_link& link) {
  const bool failed = link.now() == peer_link::state::failed;
  if (!failed && link.now() != peer_link::state::over) return;
  if (failed && !closing_) monitor_.report_lost(link.peer(), link.reason());
  if (!failed) return drop(link);
  const std::size_t first = std::size_t{link.peer().value()} * connections_;
  for (std::size_t place = first; place < first + connections_; ++place) {
    if (links_[place] != nullptr) drop(*links_[place]);
  }
}

void tcp_endpoint::drop(peer_link& link) {
  backlog_.remove(link);
  if (lone_ == &link) {
    lone_watch_.detach();
    lone_ = nullptr;
  }
  if (warm_ == &link) warm_ = nullptr;
  links_[place_of(link)].reset();
  --links_alive_;
}

void tcp_endpoint::poll_control() {
  monitor_.poll([](std::uint32_t) {});  // the streams tell of their own ends
  poll_listener();
}

void tcp_endpoint::poll_listener() {
  const auto now = steady_clock::now();
  std::vector<net::peer_candidate> candidates;
  listener_->poll(now, candidates);
  for (const net::peer_candidate& candidate : candidates) {
    listener_->refuse(candidate, fmt::format("rank {} is connected already", candidate.identity.rank.value()), now);
  }
}

void tcp_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
  closing_ = true;
  send_shutdown();
  const auto in_time = [&] { return steady_clock::now() < deadline; };
  while (!backlog_.empty() && in_time()) {
    sleep(look_again);
    flush_whole_backlog();
    discard_arrivals();
  }
  for (const auto& link : links_) {
    if (link != nullptr) link->shut_down_sending();
  }
  // To close a socket with unread bytes resets the connection. Before that the peer must have received everything.
  discard_arrivals();
  while (!acknowledged() && in_time()) {
    sleep(look_again);
    discard_arrivals();
  }
  lone_watch_.detach();
  lone_ = warm_ = nullptr;
  backlog_.clear();
  links_ = std::vector<std::unique_ptr<peer_link>>(links_.size());
  links_alive_ = 0;
}

void tcp_endpoint::send_shutdown() {
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    const bool was_empty = link->unsent_bytes() == 0;
    link->push_shutdown();
    if (was_empty) link->flush();
    if (was_empty && link->unsent_bytes() != 0) note_unsent(*link);
  }
  monitor_.report_left();
}

void tcp_endpoint::discard_arrivals() {
  message_list unwanted;
  for (std::size_t place = 0; place < links_.size(); ++place) {
    if (links_[place] != nullptr) receive(*links_[place], unwanted, std::size_t{1} << 16);
  }
}

bool tcp_endpoint::under_way() {
  bool any = unsent();
  for (const auto& link : links_) {  // all of them: each call compares with the one before
    if (link != nullptr && link->under_way()) any = true;
  }
  return any;
}

bool tcp_endpoint::acknowledged() const noexcept {
  return std::all_of(links_.begin(), links_.end(),
                     [](const auto& link) { return link == nullptr || link->unacknowledged_bytes() == 0; });
}

}  // namespace nacre::transport::tcp
