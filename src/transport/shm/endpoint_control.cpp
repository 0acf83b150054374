// SPDX-License-Identifier: Apache-2.0
// Control beside the data path of a rank's end: failures, the launcher connection, and the shutdown.
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

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
  poll_set_.remove(link.peer().value());
  std::erase(dying_, &link);
  if (link.now() != peer_link::state::failed || closing_) return;
  if (launcher_ != nullptr) launcher_->report_lost(link.peer(), link.reason());
  failures_.push_back({.peer = link.peer(),
                       .reason = std::string(link.reason()),
                       .announced = launcher_ != nullptr && launcher_->open()});
}

/// Once for a rank: a kernel that forbids it to read one peer is likely to forbid the others, too.
void shm_endpoint::warn_of_refusal(const peer_link& link, int error) {
  if (std::exchange(warned_, true)) return;
  net::write_error_line(
      fmt::format("nacre: rank {} may no longer read the memory of rank {} ({}): long messages from there are copied "
                  "through shared memory from now on",
                  rank_.value(), link.peer().value(), net::error_text(error)));
}

std::optional<failure> shm_endpoint::failed() {
  if (failures_.empty()) return std::nullopt;
  failure first = std::move(failures_.front());
  failures_.pop_front();
  return first;
}

void shm_endpoint::poll_control() {
  control_due_.store(false, std::memory_order_relaxed);  // a thread that sets it again wants another poll
  std::array<epoll_event, 32> ready;
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
    if (tag == links_.size()) {
      poll_launcher();
      continue;
    }
    peer_link& link = *links_[tag];
    if (link.now() != peer_link::state::open) continue;
    link.read_liveness_socket();
    if (link.ended()) on_end(link);
    if (link.now() == peer_link::state::dying) dying_.push_back(&link);
  }
}

/// Receives the messages that dead peers have left in their rings, before their links fail.
bool shm_endpoint::drain_the_dying(message_list& arrived, std::size_t enough) {
  bool moved = false;
  for (std::size_t i = 0; i < dying_.size();) {
    peer_link& link = *dying_[i];
    for (const channel on : {channel::system, channel::application, channel::bulk}) {
      if (!link.ended()) moved |= link.receive(on, arrived, enough);
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

void shm_endpoint::poll_launcher() {
  if (launcher_ == nullptr) return;
  auto end = launcher_->poll();
  if (!end) return;
  const auto peer = end->peer ? std::optional<rank_id>(*end->peer) : std::nullopt;
  failures_.push_back({.peer = peer, .reason = std::move(end->reason), .announced = launcher_->open()});
}

void shm_endpoint::close(std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
  closing_ = true;
  for (const auto& link : links_) {
    if (link == nullptr || link->ended()) continue;
    link->send_shutdown();
    note_unsent(*link);
  }
  if (launcher_ != nullptr) launcher_->report_left();
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
