// SPDX-License-Identifier: Apache-2.0
// The data path of a rank's end of a mesh of sockets: submit, poll, wait, wake.
#include "transport/tcp/endpoint.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

#include "transport/net/watch.hpp"

namespace nacre::transport::tcp {
namespace {

constexpr capabilities tcp_capabilities{.separate_processes = true};

constexpr std::uint32_t polls_between_looks_aside = 1024;
constexpr std::uint32_t polls_between_others = 8;  // however much the warm peer sends, the others have their turn
constexpr std::uint32_t warm_misses_max = 64;      // after so many empty reads in a row a peer is not warm any more
constexpr std::uint32_t warm_hits_before_adoption = 16;  // reads in a row that make its own watch worth its while
constexpr std::uint64_t alarm_tag = ~std::uint64_t{0};
constexpr std::uint64_t aside_tag = alarm_tag - 1;  // door and line

/// epoll_wait for one event, with a finer clock where the kernel has it.
void sleep_on(int events, std::chrono::nanoseconds timeout) {
  using std::chrono::nanoseconds;
  timeout = std::clamp(timeout, nanoseconds::zero(), nanoseconds(std::chrono::hours(1)));
  const timespec exact{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                       .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
  epoll_event ready{};
  if (::epoll_pwait2(events, &ready, 1, &exact, nullptr) >= 0 || errno != ENOSYS) return;
  ::epoll_wait(events, &ready, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count()));
}

}  // namespace

tcp_endpoint::tcp_endpoint(endpoint_parts parts)
    : rank_(parts.rank),
      entrance_(std::move(parts.entrance)),
      line_(std::move(parts.line)),
      output_bytes_max_(parts.output_bytes_max),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      alarm_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  net::watch({.events = events_.get(), .descriptor = alarm_.get(), .tag = alarm_tag}, EPOLL_CTL_ADD);
  net::watch({.events = events_.get(), .descriptor = entrance_->descriptor(), .tag = aside_tag}, EPOLL_CTL_ADD);
  if (line_ != nullptr) {
    net::watch({.events = events_.get(), .descriptor = line_->descriptor(), .tag = aside_tag}, EPOLL_CTL_ADD);
  }

  const auto ranks = static_cast<std::uint32_t>(parts.guests.size());
  const frame_limits limits{.ranks = ranks, .payload_bytes_max = tcp_capabilities.payload_bytes_max};
  links_.resize(ranks);
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    if (!parts.guests[peer]) continue;
    net::guest& guest = *parts.guests[peer];
    auto link = std::make_unique<peer_link>(rank_id(peer), std::move(guest.socket), limits);
    if (ranks == 2) only_ = lone_ = link.get();
    watch(*link, EPOLL_CTL_ADD);
    link->begin_with(guest.leftover, own_);
    peer_link& kept = *link;
    links_[peer] = std::move(link);
    on_state_change(kept);
  }
  own_waiting_.store(!own_.empty(), std::memory_order_relaxed);  // nobody else knows this object yet
}

const capabilities& tcp_endpoint::declared() const noexcept { return tcp_capabilities; }

void tcp_endpoint::submit(rank_id to, message_list& batch) {
  NACRE_EXPECT(to.value() < links_.size(), "no such rank");
  if (to == rank_) {
    if (batch.empty()) return;
    own_.append(batch);
    own_waiting_.store(true);  // seq_cst, as the load of sleeping_ in wake: one of wait and wake sees the other
    return wake();
  }
  peer_link* const link = links_[to.value()].get();
  if (link == nullptr) return batch.clear();
  const bool was_empty = link->unsent_bytes() == 0;
  link->submit(batch, output_bytes_max_);
  if (was_empty && link->unsent_bytes() != 0) note_blocked(*link);
}

void tcp_endpoint::note_blocked(peer_link& link) {
  backlog_.push_back(&link);
  watch(link, EPOLL_CTL_MOD);
}

bool tcp_endpoint::flush_backlog() {
  bool moved = false;
  for (std::size_t i = 0; i < backlog_.size();) {
    peer_link& link = *backlog_[i];
    moved |= link.flush();
    if (link.unsent_bytes() != 0) {
      ++i;
      continue;
    }
    backlog_[i] = backlog_.back();
    backlog_.pop_back();
    watch(link, EPOLL_CTL_MOD);
  }
  return moved;
}

void tcp_endpoint::watch(const peer_link& link, int operation) {
  if (link.descriptor() < 0) return;
  if (&link != lone_) {
    net::watch({.events = events_.get(),
                .descriptor = link.descriptor(),
                .tag = link.peer().value(),
                .to_write = link.unsent_bytes() != 0},
               operation);
  } else if (operation == EPOLL_CTL_ADD) {
    lone_watch_.attach(events_.get(), link.descriptor(), link.peer().value());
  } else {
    lone_watch_.set_blocked(link.unsent_bytes() != 0);
  }
}

bool tcp_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  bool moved = false;
  if (!own_.empty()) {
    own_waiting_.store(false, std::memory_order_relaxed);  // a late sight of it costs one wait that returns early
    arrived.append(own_);
    moved = true;
  }
  if (!backlog_.empty()) moved |= flush_backlog();
  const std::size_t enough = arrived.size() + messages_max;
  if (only_ != nullptr) {
    if (receive(*only_, arrived, enough)) {
      moved = true;
      lone_watch_.on_arrival();
    }
  } else if (links_.size() > 1) {
    const bool warm = poll_warm(arrived, enough);
    moved |= warm;
    if (!warm || polls_ % polls_between_others == 0) moved |= poll_kernel(arrived, enough);
  }
  // relaxed: set by wait, by this thread or by one whose caller has told this thread that it returned
  if (++polls_ % polls_between_looks_aside == 0 || look_aside_.load(std::memory_order_relaxed)) look_aside();
  return moved;
}

bool tcp_endpoint::receive(peer_link& from, message_list& arrived, std::size_t enough) {
  const peer_link::state before = from.now();
  const bool moved = from.receive(arrived, enough);
  if (from.now() != before) on_state_change(from);
  return moved;
}

/// Reads the peer that was heard of last, because who has answered once is likely to answer again.
bool tcp_endpoint::poll_warm(message_list& arrived, std::size_t enough) {
  if (warm_ == nullptr) return false;
  if (!receive(*warm_, arrived, enough)) {
    if (++warm_misses_ == warm_misses_max) warm_to(nullptr);
    return false;
  }
  warm_misses_ = 0;
  if (warm_ == nullptr) return true;  // it has just ended
  if (lone_ == warm_) {
    lone_watch_.on_arrival();
  } else if (++warm_hits_ == warm_hits_before_adoption) {
    lone_ = warm_;
    lone_watch_.adopt(events_.get(), warm_->descriptor(), warm_->peer().value(), warm_->unsent_bytes() != 0);
  }
  return true;
}

void tcp_endpoint::warm_to(peer_link* link) {
  warm_misses_ = 0;
  if (warm_ == link) return;
  if (lone_ != nullptr) {
    lone_watch_.give_back();
    lone_ = nullptr;
  }
  warm_ = link;
  warm_hits_ = 0;
}

bool tcp_endpoint::poll_kernel(message_list& arrived, std::size_t enough) {
  std::array<epoll_event, 32> ready;
  bool moved = false;
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count && arrived.size() < enough; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    const std::uint64_t tag = event.data.u64;
    if (tag == aside_tag) {
      look_aside_.store(true, std::memory_order_relaxed);  // for this thread
    } else if (tag != alarm_tag && links_[tag] != nullptr && (event.events & ~EPOLLOUT) != 0) {
      peer_link& link = *links_[tag];
      if (!receive(link, arrived, enough)) continue;
      moved = true;
      warm_to(links_[tag].get());  // null when it has just ended
    }
  }
  return moved;
}

void tcp_endpoint::wait(std::chrono::nanoseconds timeout) {
  sleeping_.store(true);
  // Either these loads see what wake and submit have set, or those see the flag above: all are seq_cst.
  if (woken_.load() || own_waiting_.load()) timeout = std::chrono::nanoseconds::zero();
  if (timeout > std::chrono::nanoseconds::zero()) sleep(timeout);
  sleeping_.store(false, std::memory_order_relaxed);  // a wake that still sees true makes the next wait return early
  woken_.exchange(false);  // reads what it clears, so that the caller sees what the waker did before
  look_aside_.store(true, std::memory_order_relaxed);  // see poll
}

void tcp_endpoint::sleep(std::chrono::nanoseconds timeout) {
  lone_watch_.before_sleep();
  sleep_on(events_.get(), timeout);
  lone_watch_.after_sleep();
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t bytes = ::read(alarm_.get(), &rings, sizeof rings);  // usually nothing is there
}

void tcp_endpoint::wake() noexcept {
  woken_.store(true);
  if (!sleeping_.load() || !sleeping_.exchange(false)) return;
  const std::uint64_t ring = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(alarm_.get(), &ring, sizeof ring);  // full only when it rings already
}

}  // namespace nacre::transport::tcp
