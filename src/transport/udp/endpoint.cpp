// SPDX-License-Identifier: Apache-2.0
// The data path of a rank's endpoint of a job over datagrams: submit, poll, wait, wake.
#include "transport/udp/endpoint.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <nacre/assert.hpp>

#include "join/net/watch.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t other_tag = 0;
constexpr int rounds_max = 4;                            // of one socket in one poll; then others are served
constexpr int landings_a_round = 16;                     // datagrams that are received one by one
constexpr std::chrono::microseconds blocked_retry{100};  // no event tells that a full socket takes more

}  // namespace

udp_endpoint::udp_endpoint(endpoint_parts parts)
    : rank_(parts.rank),
      peers_(parts.peers.size()),
      declared_{.separate_processes = true, .separate_channels = true, .datagrams = true},
      output_bytes_max_(parts.output_bytes_max),
      due_(parts.peers.size(), never),
      monitor_(static_cast<std::uint32_t>(parts.peers.size()), std::move(parts.launcher)),
      sockets_(::epoll_create1(EPOLL_CLOEXEC)),
      others_(::epoll_create1(EPOLL_CLOEXEC)) {
  net::watch({.events = others_.get(), .descriptor = wakeup_event_.descriptor(), .tag = other_tag}, EPOLL_CTL_ADD);
  net::watch({.events = others_.get(), .descriptor = monitor_.descriptor(), .tag = other_tag}, EPOLL_CTL_ADD);
  bool first = true;
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (!parts.peers[rank]) continue;
    const std::size_t bytes = parts.peers[rank]->apart.bytes_max();
    unreliable_bytes_max_ = std::exchange(first, false) ? bytes : std::min(unreliable_bytes_max_, bytes);
    peers_[rank] = std::make_unique<peer>(std::move(*parts.peers[rank]), rank, parts.silence_max);
    due_[rank] = peers_[rank]->parts.link.deadline();
    monitor_.watch(rank_id(rank), peers_[rank]->parts.liveness_socket.get());
    if (size() == 2) {
      lone_ = peers_[rank].get();
    } else {
      const int descriptor = peers_[rank]->parts.socket.descriptor();
      net::watch({.events = sockets_.get(), .descriptor = descriptor, .tag = rank}, EPOLL_CTL_ADD);
    }
  }
}

void udp_endpoint::submit(rank_id destination, message_list& batch) {
  NACRE_EXPECT(destination.value() < size(), "no such rank");
  if (batch.empty()) return;
  if (destination == rank_) {
    own_messages_.append(batch);
    flags_.note_own();
    return wake();
  }
  peer& target = *peers_[destination.value()];
  target.parts.link.submit(batch, output_bytes_max_);
  if (!target.blocked) let_leave(target, steady_clock::now());
}

/// Sends all datagrams that may leave to that peer now.
bool udp_endpoint::let_leave(peer& peer, time_point now) {
  peer.blocked = false;
  bool moved = false;
  connection& link = peer.parts.link;
  datagram_pieces apart;
  for (bool full = true; full;) {
    outgoing_.clear();
    const std::uint64_t first = link.next_number();
    std::size_t bytes = 0;
    for (full = false; !full;) {
      const std::span<std::byte> space = outgoing_.space();
      full = space.empty();
      bytes = full || !link.wants_to_send() ? 0 : link.next_datagram(space, now, &apart);
      if (bytes == 0) break;
      outgoing_.add(bytes, apart.view());
    }
    const std::size_t count = outgoing_.lengths().size();
    if (count == 0) break;
    const std::size_t taken = peer.parts.socket.send(outgoing_);
    moved |= taken > 0;
    if (taken < count) {
      link.withdraw(first + taken);
      peer.blocked = true;
      break;
    }
  }
  due_[peer.rank] = peer.blocked ? time_point::min() : link.deadline();
  publish(peer.blocked ? now + blocked_retry : link.deadline());
  return moved;
}

/// Makes the deadline of all connections earlier, and wakes a thread that would sleep for longer.
void udp_endpoint::publish(time_point deadline) noexcept {
  if (deadline >= next_deadline_) return;
  next_deadline_ = deadline;
  published_deadline_.store(deadline.time_since_epoch().count());  // pairs with the load in sleep
  if (asleep_.load()) wake();                                      // pairs with the store in wait
}

/// Of thousands of peers nearly none is due: the walk reads their times, which lie side by side, and only those peers.
bool udp_endpoint::serve_deadlines(time_point now) {
  bool moved = false;
  next_deadline_ = time_point::min();  // let_leave publishes nothing: a thread that falls asleep now wakes too early
  time_point earliest = never;
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (due_[rank] > now) {
      earliest = std::min(earliest, due_[rank]);
      continue;
    }
    peer& each = *peers_[rank];
    connection& link = each.parts.link;
    const bool due = link.deadline() <= now;
    if (due) {
      link.on_deadline(now);
      watch_path(each, now);
    }
    if (due || each.blocked) moved |= let_leave(each, now);
    if (!each.blocked) due_[rank] = link.deadline();
    earliest = std::min(earliest, each.blocked ? now + blocked_retry : link.deadline());
  }
  next_deadline_ = earliest;
  published_deadline_.store(earliest.time_since_epoch().count());
  return moved;
}

bool udp_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  drop_kept();
  bool moved = flags_.take_own(own_messages_, arrived);
  const time_point now = steady_clock::now();
  moved |= lone_ != nullptr ? receive(1 - rank_.value(), now, messages_max) : receive_from_ready(now, messages_max);
  if (next_deadline_ <= now) moved |= serve_deadlines(now);
  for (message_list& each : ready_) arrived.append(each);
  if (monitor_.due(++polls_)) poll_control();
  return moved;
}

std::size_t udp_endpoint::ready_messages() const noexcept {
  return ready_[0].size() + ready_[1].size() + ready_[2].size();
}

bool udp_endpoint::receive(std::uint32_t rank, time_point now, std::size_t messages_max) {
  peer& source = *peers_[rank];
  bool moved = false;
  bool failed = false;
  const auto note = [&](arrival arrival) {
    moved |= arrival == arrival::taken;
    failed |= arrival == arrival::failed;
  };
  const auto take = [&](std::span<const std::byte> bytes) {
    if (is_unreliable(bytes)) {
      moved |= keep(rank_id(rank), bytes);
    } else {
      note(source.parts.link.on_datagram(bytes, now, ready_));
    }
  };
  bool more = true;
  int landings = 0;
  for (int round = 0; more && round < rounds_max && ready_messages() < messages_max && has_room();) {
    const std::size_t kept_before = kept_.size();
    const landing place = source.parts.socket.can_split() ? source.parts.link.next_landing() : landing{};
    if (place.place.empty()) {
      more = source.parts.socket.receive(batch(), take);
    } else if (const auto got = source.parts.socket.receive_split(batch(), place.head_bytes, place.place)) {
      const landed_datagram landed{.head = got->head, .written = got->elsewhere, .tail = got->tail};
      if (connection::fits(landed, place)) {
        note(source.parts.link.on_landed(landed, place, now, ready_));
      } else {
        take(datagram_socket::rejoin(*got, place.place));
      }
    } else {
      more = false;
    }
    if (kept_.size() != kept_before) ++batches_used_;  // they lie there until the next poll
    if (place.place.empty() || ++landings % landings_a_round == 0) ++round;
  }
  if (moved) source.path.on_heard(now);
  if (failed) lose(rank, source.parts.link.reason());
  if (moved && !source.blocked) let_leave(source, now);
  return moved || failed;
}

/// Reads the sockets that the kernel says are readable. The order rotates, because the bound may cut the last ones off.
bool udp_endpoint::receive_from_ready(time_point now, std::size_t messages_max) {
  std::array<epoll_event, 64> events;
  const int found_count = ::epoll_wait(sockets_.get(), events.data(), static_cast<int>(events.size()), 0);
  const auto count = static_cast<std::size_t>(std::max(found_count, 0));
  bool moved = false;
  for (std::size_t i = 0; i < count && ready_messages() < messages_max && has_room(); ++i) {
    const epoll_event& event = events[(first_ready_ + i) % count];
    moved |= receive(static_cast<std::uint32_t>(event.data.u64), now, messages_max);
  }
  ++first_ready_;
  return moved;
}

void udp_endpoint::wait(std::chrono::nanoseconds timeout) {
  flags_.begin_wait();
  asleep_.store(true);  // pairs with the load in publish
  if (flags_.nothing_waits() && timeout > std::chrono::nanoseconds::zero()) sleep(timeout);
  asleep_.store(false);
  flags_.end_wait();
  monitor_.make_due();
}

void udp_endpoint::sleep(std::chrono::nanoseconds timeout) {
  const time_point deadline{time_point::duration(published_deadline_.load())};  // pairs with the store in publish
  timeout = std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
  if (deadline != never)
    timeout = std::clamp(deadline - steady_clock::now(), std::chrono::nanoseconds::zero(), timeout);
  const timespec exact{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                       .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
  const int sockets = lone_ != nullptr ? lone_->parts.socket.descriptor() : sockets_.get();
  std::array<pollfd, 2> watched{
      {{.fd = sockets, .events = POLLIN, .revents = 0}, {.fd = others_.get(), .events = POLLIN, .revents = 0}}};
  ::ppoll(watched.data(), watched.size(), &exact, nullptr);
  wakeup_event_.silence();
}

void udp_endpoint::wake() noexcept {
  if (flags_.note_wake()) wakeup_event_.ring();
}

bool udp_endpoint::unsent() const noexcept {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& each) { return each != nullptr && each->parts.link.unsent(); });
}

bool udp_endpoint::under_way() {
  bool any = false;
  for (const auto& each : peers_) {  // all of them: each call compares with the one before
    if (each != nullptr && each->parts.link.under_way()) any = true;
  }
  return any;
}

}  // namespace nacre::transport::udp
