// SPDX-License-Identifier: Apache-2.0
// The data path of a rank's endpoint of a mesh of rings: submit, poll, wait, wake.
#include "transport/shm/endpoint.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

#include "join/net/watch.hpp"

namespace nacre::transport::shm {
namespace {

constexpr capabilities shm_capabilities{.separate_processes = true, .separate_channels = true, .direct_memory = true};

constexpr std::size_t messages_a_visit = 32;  // so that several sending peers alternate

/// The ranks of the own host, in their order, are its numbers 0, 1, ... Other ranks have none.
std::vector<std::uint32_t> numbers_of_host(const endpoint_parts& parts) {
  std::vector<std::uint32_t> numbers(parts.peers.size());
  std::uint32_t next = 0;
  for (std::uint32_t rank = 0; rank < numbers.size(); ++rank) {
    if (rank == parts.rank.value() || parts.peers[rank]) numbers[rank] = next++;
  }
  return numbers;
}

}  // namespace

shm_endpoint::shm_endpoint(endpoint_parts parts)
    : rank_(parts.rank),
      own_segment_(std::move(parts.own_segment)),
      numbers_(numbers_of_host(parts)),
      links_(ranks_of_host(parts.peers)),
      poll_set_(own_segment_->head(), static_cast<std::uint32_t>(links_.size())),
      monitor_(static_cast<std::uint32_t>(parts.peers.size()), std::move(parts.launcher)) {
  const std::uint32_t ranks = size(), own_number = numbers_[rank_.value()];
  std::vector<shm_memory_copies::local_peer> local_peers(ranks);
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    if (!parts.peers[peer]) continue;
    const peer_parts& peer_parts = *parts.peers[peer];
    const std::uint32_t number = numbers_[peer];
    local_peers[peer] = {.theirs = peer_parts.theirs,
                         .number = number,
                         .process = peer_parts.process,
                         .able = peer_parts.can_copy,
                         .handle = peer_parts.handle};
    auto link = std::make_unique<peer_link>(rank_id(peer), peer_link::places{.own = own_number, .peer = number},
                                            *own_segment_, std::move(*parts.peers[peer]), ranks, parts.limits);
    monitor_.watch(rank_id(peer), link->liveness_socket());
    if (poll_set_.admit(number)) link->set_mode(attention::polled);
    links_[number] = std::move(link);
  }
  direct_ = std::make_unique<shm_memory_copies>(own_number, own_segment_, std::move(local_peers));
}

const capabilities& shm_endpoint::declared() const noexcept { return shm_capabilities; }

void shm_endpoint::submit(rank_id target, message_list& batch) {
  NACRE_EXPECT(target.value() < numbers_.size(), "no such rank");
  if (batch.empty()) return;
  if (target == rank_) {
    own_messages_.append(batch);
    flags_.note_own();
    return wake();
  }
  peer_link& link = link_to(target);
  link.submit(batch);
  if (link.ended()) {
    on_end(link);
  } else if (link.unsent()) {
    note_unsent(link);
  }
}

void shm_endpoint::note_unsent(peer_link& link) {
  if (std::find(backlog_.begin(), backlog_.end(), &link) == backlog_.end()) backlog_.push_back(&link);
}

bool shm_endpoint::flush_backlog() {
  bool moved = false;
  for (std::size_t i = 0; i < backlog_.size();) {
    peer_link& link = *backlog_[i];
    moved |= link.advance();
    if (link.unsent()) {
      ++i;
      continue;
    }
    backlog_[i] = backlog_.back();
    backlog_.pop_back();
    if (link.ended()) on_end(link);
  }
  return moved;
}

bool shm_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  bool moved = flags_.take_own(own_messages_, arrived);
  if (!backlog_.empty()) moved |= flush_backlog();
  const std::size_t enough = arrived.size() + messages_max;
  moved |= receive_polled(arrived, enough);
  if (poll_set_.uses_doorbells() && poll_set_.take_doorbells()) moved |= answer_doorbells(arrived, enough);
  if (!dying_.empty()) moved |= drain_the_dying(arrived, enough);
  if (monitor_.due(++polls_)) poll_control();
  return moved;
}

bool shm_endpoint::receive(std::uint32_t number, channel channel, message_list& arrived, std::size_t enough) {
  peer_link& link = *links_[number];
  if (!link.receive(channel, arrived, enough)) return false;
  if (const int refusal = link.take_refusal(); refusal != 0) warn_of_refusal(link, refusal);
  if (link.ended()) on_end(link);
  return true;
}

/// Receives from the peers in the poll set; from all of them on the system channel first.
bool shm_endpoint::receive_polled(message_list& arrived, std::size_t enough) {
  bool moved = false;
  std::array<bool, poll_set::places> hits{};
  const std::size_t used = poll_set_.places_used();
  for (const channel channel : {channel::system, channel::application, channel::bulk}) {
    for (std::size_t i = 0; i < used && arrived.size() < enough; ++i) {
      const std::size_t index = used == 1 ? 0 : (i + polls_) % used;
      const auto peer = poll_set_.polled(index);
      if (!peer || !links_[*peer]->has(channel)) continue;
      const std::size_t share = links_.size() == 2 ? enough : std::min(enough, arrived.size() + messages_a_visit);
      hits[index] |= receive(*peer, channel, arrived, share);
      moved |= hits[index];
    }
  }
  if (poll_set_.uses_doorbells()) {
    for (std::size_t index = 0; index < poll_set::places; ++index) poll_set_.note(index, hits[index]);
  }
  return moved;
}

bool shm_endpoint::answer_doorbells(message_list& arrived, std::size_t enough) {
  bool moved = false;
  std::uint32_t cursor = poll_set_.begin_round();
  while (arrived.size() < enough) {
    const auto peer = poll_set_.next_pending(cursor);
    if (!peer) break;
    peer_link* const link = links_[*peer].get();
    if (link == nullptr || link->ended()) {
      poll_set_.set_pending(*peer, false);
      continue;
    }
    bool hit = false;
    for (const channel channel : {channel::system, channel::application, channel::bulk}) {
      hit |= receive(*peer, channel, arrived, std::min(enough, arrived.size() + messages_a_visit));
    }
    moved |= hit;
    if (hit && !link->ended()) promote(*link);
    if (!link->pending()) poll_set_.set_pending(*peer, false);
  }
  return moved;
}

/// A peer that has sent is likely to send again: it gets a place, if one is free or its peer may be evicted.
void shm_endpoint::promote(peer_link& heard) {
  const std::uint32_t number = heard.number();
  if (heard.polled()) return;
  if (poll_set_.admit(number)) return heard.set_mode(attention::polled);
  const auto place = poll_set_.idle_place();
  if (!place) return;
  peer_link& evicted = *links_[*poll_set_.polled(*place)];
  poll_set_.assign(*place, number);
  heard.set_mode(attention::polled);
  evicted.set_mode(attention::doorbell);
  if (evicted.pending()) poll_set_.set_pending(evicted.number(), true);  // see the table of poll_set
}

bool shm_endpoint::anything_ready() const noexcept {
  for (std::size_t index = 0; index < poll_set::places; ++index) {
    const auto peer = poll_set_.polled(index);
    if (peer && links_[*peer]->ready()) return true;
  }
  return poll_set_.rung();
}

void shm_endpoint::wait(std::chrono::nanoseconds timeout) {
  flags_.begin_wait();
  announce_sleep(own_segment_->head());
  // All are seq_cst: these loads see the stores of wake, submit and the peers, or those see the two stores above.
  if (!flags_.nothing_waits() || anything_ready()) timeout = std::chrono::nanoseconds::zero();
  if (timeout > std::chrono::nanoseconds::zero()) {
    sleep_until_wakeup(own_segment_->head(), std::min<std::chrono::nanoseconds>(timeout, sleep_max));
  }
  end_sleep(own_segment_->head());
  flags_.end_wait();
  monitor_.make_due();
}

void shm_endpoint::wake() noexcept {
  if (flags_.note_wake()) wake_if_asleep(own_segment_->head());
}

}  // namespace nacre::transport::shm
