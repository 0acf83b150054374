// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint receives messages, and handles failures.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "transport/compact_header.hpp"
#include "transport/frame.hpp"
#include "transport/mpi/endpoint.hpp"

namespace nacre::transport::mpi {
namespace {

constexpr std::uint32_t burst_max = 64;

/// After so many polls without progress no channel counts as busy.
constexpr std::uint32_t idle_polls_max = 1024;

/// While payloads of so many bytes are in flight, or were started in one poll, others wait. Payloads that have arrived
/// are delivered first, and their blocks, which are in the cache, may be filled next.
constexpr std::size_t receiving_bytes_max = std::size_t{1} << 20;
constexpr std::size_t begun_bytes_max = std::size_t{64} << 10;

}  // namespace

bool mpi_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  bool moved = false;
  if (!own_messages_.empty()) {
    arrived.append(own_messages_);
    moved = true;
  }
  const std::lock_guard lock(shared_->lock);
  if (!seen_.empty()) {
    arrived.append(seen_);
    moved = true;
  }
  const bool everywhere = idle_poll_interval_.due() || idle_polls_ >= idle_polls_max;
  moved |= progress(arrived, messages_max, everywhere ? reach::all : reach::recent);
  idle_polls_ = moved ? 0 : idle_polls_ + 1;
  return moved;
}

/// Moves all transfers and messages that can move. An exchange of single messages needs one poll for each message, a
/// stream of messages many: the number of fragments to take at once follows the number that were there. However many
/// come on one channel, a poll of all channels takes a fragment of each other one, too.
bool mpi_endpoint::progress(message_list& arrived, std::size_t messages_max, reach reach) {
  if (broken_) return false;
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(burst_, std::max<std::size_t>(messages_max, 1)));
  std::uint32_t taken = 0;
  begun_bytes_ = 0;
  start_receives();
  for (std::uint32_t channel_index = 0; reach == reach::all && channel_index < channels_per_peer; ++channel_index) {
    if (!take_next(channel_index, arrived)) continue;
    recent_ = channel_index;
    ++taken;
  }
  if (reach == reach::recent || taken != 0) {
    while (taken < most && take_next(recent_, arrived)) ++taken;
  }
  if (broken_) return true;
  burst_ = taken >= burst_ ? std::min(burst_ * 2, burst_max) : 1;
  bool moved = taken != 0;
  if (transfers_under_way() != 0) moved |= complete_transfers();
  for (const place each : payloads_arrived_) {
    deliver_complete(each, arrived);
    moved = true;
  }
  payloads_arrived_.clear();
  if (!busy_.empty()) moved |= pump();
  if (moved) progressed_.store(true, std::memory_order_relaxed);  // a hint
  return moved;
}

bool mpi_endpoint::take_next(std::uint32_t channel_index, message_list& arrived) {
  arrived_fragment fragment;
  const outcome outcome = broken_ ? outcome::nothing : port_->next(fragment, channel_index);
  if (outcome == outcome::done) take(fragment, arrived);
  if (outcome == outcome::failed) break_down();
  return outcome == outcome::done;
}

/// Receives a fragment into the block of a message, in which header and payload lie as they travel.
void mpi_endpoint::take(const arrived_fragment& fragment, message_list& arrived) {
  if (fragment.word != 0) return take_compact(fragment, arrived);
  message_ptr m = make_message(std::max(fragment.byte_count, header_bytes) - header_bytes);
  port_->take(fragment, m->body() - header_bytes);
  accept(fragment, std::move(m), arrived);
}

/// Takes a fragment that is a payload, with a compact header as its word.
void mpi_endpoint::take_compact(const arrived_fragment& fragment, message_list& arrived) {
  message_ptr m = make_message(fragment.byte_count);
  port_->take(fragment, m->body());
  link* const link = link_of(fragment);
  if (link == nullptr) return;
  if (!is_compact(fragment.word)) return lose(fragment.source, "sent something that is no message");
  if (const char* const fault = fault_of_compact(fragment.word)) return lose(fragment.source, fault);
  expand(fragment.word, fragment.source, fragment.channel_index, m->header);
  deliver(*link, std::move(m), arrived);
}

/// The link of a fragment; null: this endpoint ignores its sender.
mpi_endpoint::link* mpi_endpoint::link_of(const arrived_fragment& fragment) {
  if (fragment.source >= peers_.size() || peers_[fragment.source].now == peer::state::lost) return nullptr;
  link& link = peers_[fragment.source].links[fragment.channel_index];
  if (!link.closed) return &link;
  lose(fragment.source, "sent something after its shutdown");
  return nullptr;
}

void mpi_endpoint::deliver(link& link, message_ptr m, message_list& arrived) {
  if (link.held.empty()) {
    arrived.push_back(std::move(m));
  } else {
    link.held.push_back({std::move(m), true});
  }
}

void mpi_endpoint::accept(const arrived_fragment& fragment, message_ptr m, message_list& arrived) {
  link* const link = link_of(fragment);
  if (link == nullptr) return;
  if (fragment.byte_count == 1) return accept_close(fragment, static_cast<close_kind>(*(m->body() - header_bytes)));
  if (fragment.byte_count < header_bytes) return lose(fragment.source, "sent something that is no message");

  const message_header& header = m->header;
  const frame_limits limits{
      .ranks = size(), .payload_bytes_max = declared().payload_bytes_max, .peer = rank_id(fragment.source)};
  if (const auto wrong = check_header(header, limits)) {
    return lose(fragment.source, std::string(describe(*wrong)));
  }
  if (static_cast<std::uint32_t>(header.channel) != fragment.channel_index) {
    return lose(fragment.source, "sent a message on another channel than it belongs to");
  }
  if (fragment.byte_count != header_bytes + header.payload_bytes) {
    if (fragment.byte_count == header_bytes)
      return accept_rendezvous_request({fragment.source, fragment.channel_index}, header);
    return lose(fragment.source, "sent a message of another length");
  }
  deliver(*link, std::move(m), arrived);
}

void mpi_endpoint::accept_rendezvous_request(place source, const message_header& header) {
  rendezvous_requests_.push_back(
      {source, header, &peers_[source.peer].links[source.channel_index].held.emplace_back()});
  start_receives();
}

/// Payloads that do not move, because their sender does not poll, delay those of others for a bounded time only.
void mpi_endpoint::start_receives() {
  while (!rendezvous_requests_.empty() && begun_bytes_ < begun_bytes_max) {
    if (receiving_bytes_ >= receiving_bytes_max && !stall_timeout_.due()) break;
    const rendezvous_request next = rendezvous_requests_.front();
    rendezvous_requests_.pop_front();
    if (peers_[next.source.peer].now == peer::state::lost) continue;
    message& m = *(next.destination->m = make_message(next.header.payload_bytes));
    m.header = next.header;
    transfer& transfer = begin(transfer::kind::arriving, next.source);
    transfer.destination = next.destination;
    stall_timeout_.restart();
    receiving_bytes_ += m.header.payload_bytes;
    begun_bytes_ += m.header.payload_bytes;
    handle_outcome(transfer, port_->receive_payload({next.source.channel_index, next.source.peer, transfer.request_id},
                                                    {m.body(), m.header.payload_bytes}));
  }
}

/// Delivers held messages, up to the first payload that has not arrived.
void mpi_endpoint::deliver_complete(place source, message_list& arrived) {
  std::list<incoming>& held = peers_[source.peer].links[source.channel_index].held;
  for (; !held.empty() && held.front().complete; held.pop_front()) arrived.push_back(std::move(held.front().m));
}

void mpi_endpoint::accept_close(const arrived_fragment& fragment, close_kind kind) {
  peer& peer = peers_[fragment.source];
  peer.links[fragment.channel_index].closed = true;
  if (peer.now != peer::state::present) return;
  peer.now = peer::state::left;
  forget_waiting(fragment.source);
  if (kind != close_kind::shutdown) {
    note({.peer = rank_id(fragment.source), .reason = "ended without a shutdown"});
  }
}

void mpi_endpoint::lose(std::uint32_t rank, std::string reason) {
  if (peers_[rank].now == peer::state::lost) return;
  peers_[rank].now = peer::state::lost;
  forget_waiting(rank);
  note({.peer = rank_id(rank), .reason = std::move(reason)});
}

void mpi_endpoint::break_down() {
  broken_ = true;
  note({.peer = std::nullopt, .reason = std::string("MPI does not receive any more: ") + port_->error()});
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    peers_[rank].now = peer::state::lost;
    forget_waiting(rank);
  }
}

void mpi_endpoint::note(failure failure) {
  if (closing_) return;
  failures_.push(std::move(failure));
}

std::optional<failure> mpi_endpoint::failed() {
  if (!failures_.any()) return std::nullopt;
  const std::lock_guard lock(shared_->lock);
  return failures_.take();
}

}  // namespace nacre::transport::mpi
