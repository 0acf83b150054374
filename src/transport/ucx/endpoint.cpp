// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint polls, sleeps and is woken.
#include "transport/ucx/endpoint.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <nacre/assert.hpp>

#include "join/net/watch.hpp"

namespace nacre::transport::ucx {
namespace {

using std::chrono::nanoseconds;

constexpr capabilities ucx_capabilities{.separate_processes = true, .separate_channels = true, .direct_memory = true};

constexpr std::uint32_t busy_polls = 1024;
constexpr std::size_t frames_of_a_stream = 4;  // a poll that finds so many looks again: more are likely
constexpr std::uint32_t polls_max = 16;        // at one channel in one poll

/// Two events ring no doorbell: a peer makes room in a queue, and a channel that could not be armed becomes ready. The
/// poll interval for them is 1/part_of_waiting of the time for which nothing has moved: on a crowded host the peer may
/// wait for the very core that polls.
constexpr std::chrono::microseconds pause_while_sending{50};
constexpr std::chrono::milliseconds pause_max{2};
constexpr int part_of_waiting = 16;

constexpr std::uint64_t wakeup_tag = ~std::uint64_t{0};
constexpr std::uint64_t control_tag = wakeup_tag - 1;

void sleep_until_wakeup(int wakeup_event, nanoseconds timeout) {
  pollfd watched{.fd = wakeup_event, .events = POLLIN, .revents = 0};
  const timespec exact{.tv_sec = 0, .tv_nsec = static_cast<long>(timeout.count())};
  ::ppoll(&watched, 1, &exact, nullptr);
}

}  // namespace

ucx_endpoint::ucx_endpoint(endpoint_parts parts)
    : rank_(parts.rank),
      output_bytes_max_(parts.output_bytes_max),
      port_(std::move(parts.end)),
      peers_(parts.peers.size()),
      idle_poll_interval_(parts.idle_poll_interval),
      monitor_(static_cast<std::uint32_t>(parts.peers.size()), std::move(parts.launcher)),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  NACRE_EXPECT(size() <= ranks_max, "a stamp has no room for the number of a rank");
  net::watch({.events = events_.get(), .descriptor = monitor_.descriptor(), .tag = control_tag}, EPOLL_CTL_ADD);
  net::watch({.events = events_.get(), .descriptor = wakeup_event_.descriptor(), .tag = wakeup_tag}, EPOLL_CTL_ADD);
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (!parts.peers[rank]) continue;
    peer& peer = peers_[rank];
    peer.now = peer::state::present;
    peer.parts = std::move(*parts.peers[rank]);
    monitor_.watch(rank_id(rank), peer.parts.liveness_socket.get());
    unheard_ += channels_per_peer;
    ++unready_;
  }
  port_->set_callbacks(*this);
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    net::watch({.events = events_.get(), .descriptor = port_->descriptor(channel_index), .tag = channel_index},
               EPOLL_CTL_ADD);
  }
}

const capabilities& ucx_endpoint::declared() const noexcept { return ucx_capabilities; }

bool ucx_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  bool moved = flags_.take_own(own_messages_, arrived);
  const std::scoped_lock lock(lock_);
  if (!seen_.empty()) {
    arrived.append(seen_);
    moved = true;
  }
  moved |= progress(arrived, arrived.size() + messages_max);
  exception_.throw_kept();
  moved |= copies_.has_ended();
  if (monitor_.due(polls_)) poll_control();
  progressed_ |= moved;
  return moved;
}

/// Polls each busy channel, one that has delivered something lately, every time. Polls the idle ones at intervals, and
/// before the busy ones, so that a message found on an idle channel does not wait for the busy ones.
bool ucx_endpoint::progress(message_list& messages, std::size_t enough) {
  bool moved = false;
  ++polls_;
  destination_ = &messages;
  for (std::uint32_t channel_index = 0; requests_waiting_ != 0 && channel_index < channels_per_peer; ++channel_index) {
    if (!may_fetch(channel_index)) continue;  // first: all frames that arrived before this poll have been handled
    exception_.keep([&] { start_fetches(channel_index); });
    moved = true;
    busy_polls_left_[channel_index] = busy_polls;
  }
  const bool all_are_idle =
      std::all_of(busy_polls_left_.begin(), busy_polls_left_.end(), [](std::uint32_t polls) { return polls == 0; });
  if (all_are_idle || idle_poll_interval_.due()) {
    for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
      if (busy_polls_left_[channel_index] == 0) moved |= poll_channel(channel_index, messages, enough);
    }
  }
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    if (busy_polls_left_[channel_index] == 0) continue;
    --busy_polls_left_[channel_index];
    moved |= poll_channel(channel_index, messages, enough);
  }
  destination_ = nullptr;
  if (!busy_.empty()) moved |= pump();
  if (copies_.has_frames()) send_control_frames();
  return moved;
}

bool ucx_endpoint::poll_channel(std::uint32_t channel_index, message_list& messages, std::size_t enough) {
  for (std::uint32_t look = 0; look < polls_max; ++look) {
    const std::size_t previous = messages.size();
    if (!port_->progress(channel_index)) return look != 0;
    busy_polls_left_[channel_index] = busy_polls;
    if (messages.size() < previous + frames_of_a_stream || messages.size() >= enough) break;
  }
  return true;
}

void ucx_endpoint::wait(nanoseconds timeout) {
  flags_.begin_wait();
  if (flags_.nothing_waits() && timeout > nanoseconds::zero()) sleep(std::min<nanoseconds>(timeout, sleep_max));
  flags_.end_wait();
  monitor_.make_due();
}

/// A channel that cannot be armed has work to do. This thread does it here, so a thread that only waits makes progress,
/// too.
void ucx_endpoint::sleep(nanoseconds timeout) {
  bool armed = true;
  {
    const std::scoped_lock lock(lock_);
    if (!seen_.empty() || copies_.has_ended()) return;
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(progressed_, false)) quiet_since_ = now;
    const auto part = std::min<nanoseconds>((now - quiet_since_) / part_of_waiting, pause_max);
    destination_ = &seen_;
    for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
      if (!may_fetch(channel_index) && port_->arm(channel_index)) continue;
      armed = false;
      progressed_ |= port_->progress(channel_index) || may_fetch(channel_index);
      send_control_frames();
      busy_polls_left_[channel_index] = busy_polls;
    }
    destination_ = nullptr;
    if (progressed_ || !seen_.empty()) return;  // a channel may deliver while it is armed, too
    if (!armed) {
      timeout = std::min(timeout, part);
    } else if (sending_ != 0) {
      timeout = std::min(timeout, std::max<nanoseconds>(part, pause_while_sending));
    }
  }
  if (armed) {
    net::sleep_on(events_.get(), timeout);
  } else {
    sleep_until_wakeup(wakeup_event_.descriptor(), timeout);
  }
  wakeup_event_.silence();
}

void ucx_endpoint::wake() noexcept {
  if (flags_.note_wake()) wakeup_event_.ring();
}

}  // namespace nacre::transport::ucx
