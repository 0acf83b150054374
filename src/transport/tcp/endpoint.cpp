// SPDX-License-Identifier: Apache-2.0
// The data path of a rank's endpoint of a mesh of sockets: submit, poll, wait, wake.
#include "transport/tcp/endpoint.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

#include "join/net/watch.hpp"

namespace nacre::transport::tcp {
namespace {

constexpr std::chrono::microseconds others_apart{5};     // however much the warm stream brings, the others are polled
constexpr std::uint32_t warm_misses_max = 64;            // after so many in a row a stream is not warm any more
constexpr std::uint32_t warm_hits_before_adoption = 16;  // after so many reads in a row lone_watch_ adopts the stream
constexpr std::uint32_t rivals_max = 2;                  // after so many in a row an adopted stream is replaced
constexpr std::chrono::nanoseconds unwatched_sleep = std::chrono::milliseconds(1);  // where no event tells of a message
constexpr std::uint64_t wakeup_tag = ~std::uint64_t{0};
constexpr std::uint64_t control_tag = wakeup_tag - 1;  // listener and monitor_

/// The number of the connection that carries a channel.
std::uint32_t place_among(channel channel, std::uint32_t connections) noexcept {
  return std::min(static_cast<std::uint32_t>(channel), connections - 1);
}

/// The channels that connection `number` carries, as bits: the last one carries all that have none of their own.
std::uint32_t channels_of(std::uint32_t number, std::uint32_t connections) noexcept {
  constexpr std::uint32_t every = (1u << channel_count) - 1;
  return number + 1 < connections ? 1u << number : every & ~((1u << number) - 1);
}

}  // namespace

tcp_endpoint::tcp_endpoint(endpoint_parts parts)
    : rank_(parts.rank),
      size_(static_cast<std::uint32_t>(parts.candidates.size())),
      connections_(parts.connections),
      declared_{.separate_processes = true, .separate_channels = parts.connections == channel_count},
      links_(std::size_t{size_} * connections_),
      listener_(std::move(parts.listener)),
      monitor_(size_, std::move(parts.launcher)),
      output_bytes_max_(parts.output_bytes_max),
      others_(others_apart),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  NACRE_EXPECT(connections_ > 0 && connections_ <= channel_count, "a peer has one connection for each channel at most");
  net::watch({.events = events_.get(), .descriptor = wakeup_event_.descriptor(), .tag = wakeup_tag}, EPOLL_CTL_ADD);
  net::watch({.events = events_.get(), .descriptor = listener_->descriptor(), .tag = control_tag}, EPOLL_CTL_ADD);
  net::watch({.events = events_.get(), .descriptor = monitor_.descriptor(), .tag = control_tag}, EPOLL_CTL_ADD);
  for (std::uint32_t peer = 0; peer < size_; ++peer) {
    if (!parts.candidates[peer].empty()) enrol(rank_id(peer), parts.candidates[peer]);
  }
  listener_->job_begins(std::chrono::steady_clock::now());
  if (!own_messages_.empty()) flags_.note_own();
}

void tcp_endpoint::enrol(rank_id peer, launch::candidates_of_rank& candidates) {
  NACRE_EXPECT(candidates.size() == connections_, "every connection stands");
  const std::size_t first = std::size_t{peer.value()} * connections_;
  const std::uint32_t application = place_among(channel::application, connections_);
  for (std::uint32_t number = 0; number < connections_; ++number) {
    const frame_limits limits{.ranks = size_,
                              .payload_bytes_max = declared_.payload_bytes_max,
                              .channels = channels_of(number, connections_),
                              .peer = peer};
    links_[first + number] =
        std::make_unique<peer_link>(peer, number, std::move(candidates[number].socket), limits, chunks_);
    ++links_alive_;
    peer_link& link = *links_[first + number];
    if (size_ == 2 && number == application) warm_ = lone_ = &link;
    watch(link, EPOLL_CTL_ADD);
  }
  for (std::uint32_t number = 0; number < connections_; ++number) {
    peer_link* const link = links_[first + number].get();
    if (link == nullptr) continue;  // another stream of this peer has brought bad bytes
    link->begin_with(candidates[number].leftover, own_messages_);
    on_state_change(*link);
  }
}

std::size_t tcp_endpoint::place_of(const peer_link& link) const noexcept {
  return std::size_t{link.peer().value()} * connections_ + link.number();
}

void tcp_endpoint::submit(rank_id target, message_list& batch) {
  NACRE_EXPECT(target.value() < size_, "no such rank");
  if (batch.empty()) return;
  if (target == rank_) {
    own_messages_.append(batch);
    flags_.note_own();
    return wake();
  }
  const channel channel = batch.front()->header.channel;
  peer_link* const link = links_[std::size_t{target.value()} * connections_ + place_among(channel, connections_)].get();
  if (link == nullptr) return batch.clear();
  const bool was_empty = link->unsent_bytes() == 0;
  link->submit(batch, output_bytes_max_);
  if (was_empty && link->unsent_bytes() != 0) note_unsent(*link);
}

void tcp_endpoint::note_unsent(peer_link& link) {
  backlog_.add(link);
  watch(link, EPOLL_CTL_MOD);
}

/// The warm link may not be registered, and the kernel is not asked where it is the only one.
bool tcp_endpoint::flush_backlog() {
  return backlog_.flush(warm_, [this](const peer_link& link) { watch(link, EPOLL_CTL_MOD); });
}

void tcp_endpoint::flush_whole_backlog() {
  backlog_.flush_all([this](const peer_link& link) { watch(link, EPOLL_CTL_MOD); });
}

void tcp_endpoint::watch(const peer_link& link, int operation) {
  if (link.descriptor() < 0) return;
  if (&link != lone_) {
    net::watch({.events = events_.get(),
                .descriptor = link.descriptor(),
                .tag = place_of(link),
                .to_write = link.unsent_bytes() != 0},
               operation);
  } else if (operation == EPOLL_CTL_ADD) {
    lone_watch_.attach(events_.get(), link.descriptor(), place_of(link));
  } else {
    lone_watch_.set_blocked(link.unsent_bytes() != 0);
  }
}

bool tcp_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  bool moved = flags_.take_own(own_messages_, arrived);
  if (!backlog_.empty()) moved |= flush_backlog();
  if (links_alive_ > 0) {
    const bool warm = poll_warm(arrived, arrived.size() + messages_max);
    moved |= warm;
    if (asks_kernel(warm)) moved |= poll_kernel(arrived, messages_max);
  }
  if (monitor_.due(++polls_)) poll_control();
  return moved;
}

bool tcp_endpoint::receive(peer_link& link, message_list& arrived, std::size_t enough) {
  const peer_link::state state = link.now();
  const bool moved = link.receive(arrived, enough);
  if (link.now() != state) on_state_change(link);
  return moved;
}

/// Reads the warm stream: a peer that has answered once is likely to answer again.
bool tcp_endpoint::poll_warm(message_list& arrived, std::size_t enough) {
  if (warm_ == nullptr) return false;
  if (!receive(*warm_, arrived, enough)) {
    // Between two ranks there is hardly another stream to read.
    if (++warm_misses_ >= warm_misses_max && size_ > 2) warm_to(nullptr);
    return false;
  }
  warm_misses_ = rivals_ = 0;
  if (warm_ == nullptr) return true;  // it has just ended
  if (lone_ == warm_) {
    lone_watch_.on_arrival();
  } else if (++warm_hits_ == warm_hits_before_adoption) {
    lone_ = warm_;
    lone_watch_.adopt(events_.get(), warm_->descriptor(), place_of(*warm_), warm_->unsent_bytes() != 0);
  }
  return true;
}

void tcp_endpoint::warm_to(peer_link* link) {
  warm_misses_ = rivals_ = 0;
  if (warm_ == link) return;
  if (lone_ != nullptr) {
    lone_watch_.give_back();
    lone_ = nullptr;
  }
  warm_ = link;
  warm_hits_ = 0;
}

/// When the warm stream has more to read, the others are polled at once, so that none waits behind a full one.
bool tcp_endpoint::asks_kernel(bool heard_warm) noexcept {
  if (warm_ == nullptr) return true;
  if (links_alive_ == 1) return false;
  return (heard_warm && warm_->has_more()) || others_.due();
}

bool tcp_endpoint::poll_kernel(message_list& arrived, std::size_t messages_max) {
  std::array<epoll_event, 64> ready;
  const int found_count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  const auto count = static_cast<std::size_t>(std::max(found_count, 0));
  bool moved = false;
  const auto is_of_system = [&](std::uint64_t tag) { return tag < control_tag && tag % connections_ == 0; };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t tag = ready[i].data.u64;
    if (tag == control_tag) monitor_.make_due();
    if ((ready[i].events & EPOLLOUT) != 0) moved |= note_writable(tag);
    if (is_of_system(tag)) moved |= on_event(tag, ready[i].events, arrived, arrived.size() + messages_max);
  }
  // The order of the others rotates, because the bound may cut the last ones off.
  const std::size_t enough = arrived.size() + messages_max;
  for (std::size_t i = 0; i < count && arrived.size() < enough; ++i) {
    const epoll_event& event = ready[(round_ + i) % count];
    const std::uint64_t tag = event.data.u64;
    if (tag < control_tag && !is_of_system(tag)) moved |= on_event(tag, event.events, arrived, enough);
  }
  ++round_;
  return moved;
}

/// True when the link has waited for that; the next poll writes.
bool tcp_endpoint::note_writable(std::uint64_t place) noexcept {
  if (place >= links_.size() || links_[place] == nullptr || !links_[place]->blocked()) return false;
  backlog_.note_writable(*links_[place]);
  return true;
}

bool tcp_endpoint::on_event(std::uint64_t place, std::uint32_t events, message_list& arrived, std::size_t enough) {
  if (links_[place] == nullptr || (events & ~std::uint32_t{EPOLLOUT}) == 0) return false;
  if (!receive(*links_[place], arrived, enough)) return false;
  peer_link* const heard = links_[place].get();  // null when it has just ended
  if (heard == nullptr) return true;
  if (heard == warm_ || lone_ == nullptr || ++rivals_ >= rivals_max) warm_to(heard);
  return true;
}

void tcp_endpoint::wait(std::chrono::nanoseconds timeout) {
  flags_.begin_wait();
  if (flags_.nothing_waits() && timeout > std::chrono::nanoseconds::zero()) sleep(timeout);
  flags_.end_wait();
  monitor_.make_due();
}

void tcp_endpoint::sleep(std::chrono::nanoseconds timeout) {
  if (!lone_watch_.before_sleep()) timeout = std::min(timeout, unwatched_sleep);
  net::sleep_on(events_.get(), timeout);
  lone_watch_.after_sleep();
  wakeup_event_.silence();
}

void tcp_endpoint::wake() noexcept {
  if (flags_.note_wake()) wakeup_event_.ring();
}

}  // namespace nacre::transport::tcp
