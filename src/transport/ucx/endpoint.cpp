// SPDX-License-Identifier: Apache-2.0
// How a rank's end polls, sleeps and is woken.
#include "transport/ucx/endpoint.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/net/watch.hpp"

namespace nacre::transport::ucx {
namespace {

using std::chrono::nanoseconds;

constexpr capabilities ucx_capabilities{.separate_processes = true, .separate_channels = true, .direct_memory = true};

constexpr std::uint32_t polls_between_looks_aside = 1024;
constexpr std::uint32_t warm_polls = 1024;
constexpr std::size_t frames_of_a_stream = 4;  // a poll that finds so many looks again: more are likely
constexpr std::uint32_t looks_max = 16;        // at one channel in one poll

/// Two events ring no doorbell: a peer makes room in a queue, and a channel that could not be armed becomes ready. The
/// poll interval for them is this part of the time for which nothing has moved: on a crowded host the peer may wait for
/// the very core that polls.
constexpr std::chrono::microseconds pause_while_sending{50};
constexpr std::chrono::milliseconds pause_max{2};
constexpr int part_of_waiting = 16;

constexpr std::uint64_t alarm_tag = ~std::uint64_t{0};
constexpr std::uint64_t aside_tag = alarm_tag - 1;

void sleep_on_alarm(int alarm, nanoseconds timeout) {
  pollfd watched{.fd = alarm, .events = POLLIN, .revents = 0};
  const timespec exact{.tv_sec = 0, .tv_nsec = static_cast<long>(timeout.count())};
  ::ppoll(&watched, 1, &exact, nullptr);
}

}  // namespace

ucx_endpoint::ucx_endpoint(endpoint_parts parts)
    : rank_(parts.rank),
      output_bytes_max_(parts.output_bytes_max),
      port_(std::move(parts.end)),
      peers_(parts.peers.size()),
      cold_lanes_(parts.cold_lanes_apart),
      line_(std::move(parts.line)),
      aside_(::epoll_create1(EPOLL_CLOEXEC)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      alarm_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  NACRE_EXPECT(size() <= ranks_max, "a stamp has no room for the number of a rank");
  net::watch({.events = events_.get(), .descriptor = aside_.get(), .tag = aside_tag}, EPOLL_CTL_ADD);
  net::watch({.events = events_.get(), .descriptor = alarm_.get(), .tag = alarm_tag}, EPOLL_CTL_ADD);
  if (line_ != nullptr) {
    net::watch({.events = aside_.get(), .descriptor = line_->descriptor(), .tag = size()}, EPOLL_CTL_ADD);
  }
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (!parts.peers[rank]) continue;
    peer& made = peers_[rank];
    made.now = peer::state::present;
    made.parts = std::move(*parts.peers[rank]);
    net::watch({.events = aside_.get(), .descriptor = made.parts.lifeline.get(), .tag = rank}, EPOLL_CTL_ADD);
    unheard_ += lane_count;
    ++unready_;
  }
  port_->tell(*this);
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    net::watch({.events = events_.get(), .descriptor = port_->descriptor(lane), .tag = lane}, EPOLL_CTL_ADD);
  }
}

const capabilities& ucx_endpoint::declared() const noexcept { return ucx_capabilities; }

bool ucx_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  bool moved = false;
  if (!own_.empty()) {
    own_waiting_.store(false, std::memory_order_relaxed);  // a wait that reads the old value returns early, once
    arrived.append(own_);
    moved = true;
  }
  const std::scoped_lock lock(turn_);
  if (!seen_.empty()) {
    arrived.append(seen_);
    moved = true;
  }
  moved |= progress(arrived, arrived.size() + messages_max);
  moved |= !ended_copies_.empty();
  // relaxed: wait sets it, in this thread, or in a thread that has told this one that wait has returned
  if (polls_ % polls_between_looks_aside == 0 || look_aside_.load(std::memory_order_relaxed)) look_aside();
  stirred_ |= moved;
  return moved;
}

/// Polls each busy channel, one that has delivered something lately, every time. Polls the idle ones at intervals, and
/// before the busy ones, so that a message found on an idle channel does not wait for the busy ones.
bool ucx_endpoint::progress(message_list& into, std::size_t enough) {
  bool moved = false;
  ++polls_;
  into_ = &into;
  for (std::uint32_t lane = 0; announced_ != 0 && lane < lane_count; ++lane) {
    if (!may_fetch(lane)) continue;  // first: all frames that arrived before this poll have been handled
    fetch_announced(lane);
    moved = true;
    warmth_[lane] = warm_polls;
  }
  const bool all_are_cold = std::all_of(warmth_.begin(), warmth_.end(), [](std::uint32_t polls) { return polls == 0; });
  if (all_are_cold || cold_lanes_.due()) {
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
      if (warmth_[lane] == 0) moved |= look_at(lane, into, enough);
    }
  }
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    if (warmth_[lane] == 0) continue;
    --warmth_[lane];
    moved |= look_at(lane, into, enough);
  }
  into_ = nullptr;
  if (!busy_.empty()) moved |= pump();
  if (!words_.empty()) say_words();
  return moved;
}

bool ucx_endpoint::look_at(std::uint32_t lane, message_list& into, std::size_t enough) {
  for (std::uint32_t look = 0; look < looks_max; ++look) {
    const std::size_t before = into.size();
    if (!port_->progress(lane)) return look != 0;
    warmth_[lane] = warm_polls;
    if (into.size() < before + frames_of_a_stream || into.size() >= enough) break;
  }
  return true;
}

void ucx_endpoint::wait(nanoseconds timeout) {
  sleeping_.store(true);
  // These loads see the stores of wake and submit, or wake and submit see the flag above: all are seq_cst.
  if (woken_.load() || own_waiting_.load()) timeout = nanoseconds::zero();
  if (timeout > nanoseconds::zero()) sleep(std::min<nanoseconds>(timeout, sleep_max));
  sleeping_.store(false, std::memory_order_relaxed);  // a wake that still reads true makes the next wait return early
  woken_.exchange(false);  // reads the value that it clears, so the caller sees all that the waker did before
  look_aside_.store(true, std::memory_order_relaxed);  // see poll
}

/// A channel that cannot be armed has work to do. This thread does it here, so a thread that only waits makes progress,
/// too.
void ucx_endpoint::sleep(nanoseconds timeout) {
  bool armed = true;
  {
    const std::scoped_lock lock(turn_);
    if (!seen_.empty() || !ended_copies_.empty()) return;
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(stirred_, false)) quiet_since_ = now;
    const auto part = std::min<nanoseconds>((now - quiet_since_) / part_of_waiting, pause_max);
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
      if (!may_fetch(lane) && port_->arm(lane)) continue;
      armed = false;
      into_ = &seen_;
      stirred_ |= port_->progress(lane) || may_fetch(lane);
      into_ = nullptr;
      say_words();
      warmth_[lane] = warm_polls;
    }
    if (stirred_) return;
    if (!armed) {
      timeout = std::min(timeout, part);
    } else if (sending_ != 0) {
      timeout = std::min(timeout, std::max<nanoseconds>(part, pause_while_sending));
    }
  }
  if (armed) {
    net::sleep_on(events_.get(), timeout);
  } else {
    sleep_on_alarm(alarm_.get(), timeout);
  }
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t bytes = ::read(alarm_.get(), &rings, sizeof rings);  // usually empty
}

void ucx_endpoint::wake() noexcept {
  woken_.store(true);
  if (!sleeping_.load() || !sleeping_.exchange(false)) return;
  const std::uint64_t ring = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(alarm_.get(), &ring, sizeof ring);  // full only when it rings already
}

}  // namespace nacre::transport::ucx
