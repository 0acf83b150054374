// SPDX-License-Identifier: Apache-2.0
// Control beside the data path of a rank's endpoint: failures, the launcher connection, and the shutdown.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "join/net/refusal_log.hpp"
#include "transport/shm/endpoint.hpp"

namespace nacre::transport::shm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds look_again{1};  // while closing

}  // namespace

void shm_endpoint::on_end(peer_link& link) {
  if (!link.take_end()) return;
  poll_set_.remove(link.number());
  std::erase(dying_, &link);
  if (link.now() != peer_link::state::failed || closing_) return;
  monitor_.report_lost(link.peer(), std::string(link.reason()));
}

/// Once for a rank: a kernel that forbids it to read one peer is likely to forbid the others, too.
void shm_endpoint::warn_of_refusal(const peer_link& link, int error) {
  if (std::exchange(warned_, true)) return;
  net::write_error_line(
      fmt::format("nacre: rank {} may no longer read the memory of rank {} ({}): long messages from there are copied "
                  "through shared memory from now on",
                  rank_.value(), link.peer().value(), net::error_text(error)));
}

void shm_endpoint::poll_control() {
  monitor_.poll([this](std::uint32_t peer) {
    peer_link& link = link_to(rank_id(peer));
    if (link.now() != peer_link::state::open) return;
    link.read_liveness_socket();
    if (link.ended()) on_end(link);
    if (link.now() == peer_link::state::dying) dying_.push_back(&link);
  });
}

/// Receives the messages that dead peers have left in their rings, before their links fail.
bool shm_endpoint::drain_the_dying(message_list& arrived, std::size_t enough) {
  bool moved = false;
  for (std::size_t i = 0; i < dying_.size();) {
    peer_link& link = *dying_[i];
    for (const channel channel : {channel::system, channel::application, channel::bulk}) {
      if (!link.ended()) moved |= link.receive(channel, arrived, enough);
    }
    link.finish();
    if (link.ended()) {
      on_end(link);
      moved = true;
    } else {
      ++i;
    }
  }
  return moved;
}

void shm_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
  closing_ = true;
  for (const auto& link : links_) {
    if (link == nullptr || link->ended()) continue;
    link->send_shutdown();
    note_unsent(*link);
  }
  monitor_.report_left();
  message_list unwanted;
  for (flush_backlog(); !backlog_.empty() && steady_clock::now() < deadline; flush_backlog()) {
    wait(look_again);
    poll(unwanted, std::size_t{1} << 16);
    unwanted.clear();
  }
  backlog_.clear();
  for (const auto& link : links_) {
    if (link != nullptr) link->leave();
  }
}

}  // namespace nacre::transport::shm
