// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint sends messages.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/compact_header.hpp"
#include "transport/frame.hpp"
#include "transport/mpi/endpoint.hpp"

namespace nacre::transport::mpi {

void mpi_endpoint::submit(rank_id destination, message_list& batch) {
  NACRE_EXPECT(destination.value() < peers_.size(), "no such rank");
  if (batch.empty()) return;
  if (destination == rank_) {
    own_messages_.append(batch);
    return wake();
  }
  const std::lock_guard lock(shared_->lock);
  progressed_.store(true, std::memory_order_relaxed);  // a hint: a reply may come soon
  peer& target = peers_[destination.value()];
  if (target.links[static_cast<std::size_t>(batch.front()->header.channel)].payloads_pending != 0) {
    // A handler that sends one long message after the other leaves MPI no other time to move them.
    complete_transfers();
    pump();
  }
  while (!batch.empty() && target.now == peer::state::present) {
    const auto channel_index = static_cast<std::uint32_t>(batch.front()->header.channel);
    link& via = target.links[channel_index];
    if (via.waiting.empty() && !full(via, channel_index)) {
      start({destination.value(), channel_index}, packed_form(batch.pop_front()));
      continue;
    }
    if (via.waiting_bytes >= settings_.output_bytes_max) return;
    message_ptr m = packed_form(batch.pop_front());
    if (via.waiting.empty()) busy_.add({destination.value(), channel_index});
    via.waiting_bytes += header_bytes + m->header.payload_bytes;
    via.waiting.push_back(std::move(m));
  }
  if (target.now != peer::state::present) batch.clear();
}

bool mpi_endpoint::full(const link& link, std::uint32_t channel_index) const noexcept {
  return link.matched_pending == 2 || link.payloads_pending == payloads_max ||
         link.fragments_pending >= fragments_pending_max || sending_[channel_index] >= sends_max;
}

void mpi_endpoint::start(place place, message_ptr m) {
  if (header_bytes + m->header.payload_bytes <= settings_.shape.bytes - slot_bytes_spared) {
    send_eager(place, std::move(m));
  } else {
    send_rendezvous(place, std::move(m));
  }
}

bool mpi_endpoint::completes_window(link& link, std::size_t fragment_bytes) const noexcept {
  const std::size_t slot = settings_.shape.bytes;
  link.window_filled += std::max(fragment_bytes, slot / short_fragments_in_a_slot);
  return link.window_filled >= window_slots * slot;
}

/// Most fragments have left when the call returns, and need no record.
void mpi_endpoint::send_eager(place place, message_ptr m) {
  link& via = peers_[place.peer].links[place.channel_index];
  transfer_request request{place.channel_index, place.peer, next_request_id()};
  std::span<const std::byte> fragment = frame_of(*m);
  if (words_) {
    if (const auto compact = compress(m->header, rank_.value(), place.channel_index)) {
      request.word = word_of_compact(*compact);
      fragment = m->payload();
    }
  }
  const bool matched = completes_window(via, fragment.size());
  const outcome outcome =
      port_->send(request, fragment, matched ? port::completion::matched : port::completion::buffered);
  if (outcome == outcome::done && !matched) return;
  transfer& transfer = begin(matched ? transfer::kind::matched : transfer::kind::fragment, place);
  transfer.m = std::move(m);
  handle_outcome(transfer, outcome);
}

void mpi_endpoint::send_rendezvous(place place, message_ptr m) {
  link& via = peers_[place.peer].links[place.channel_index];
  const bool matched = completes_window(via, settings_.shape.bytes);  // for its payload, too, which MPI may buffer
  transfer& request = begin(matched ? transfer::kind::matched : transfer::kind::fragment, place);
  std::memcpy(request.control_bytes.data(), &m->header, header_bytes);
  handle_outcome(request, port_->send({place.channel_index, place.peer, request.request_id}, request.control_bytes,
                                      matched ? port::completion::matched : port::completion::buffered));
  if (peers_[place.peer].now != peer::state::present) return;
  transfer& payload = begin(transfer::kind::payload, place);
  payload.m = std::move(m);
  handle_outcome(payload,
                 port_->send_payload({place.channel_index, place.peer, payload.request_id}, payload.m->payload()));
}

/// The request id of the next transfer.
std::uint32_t mpi_endpoint::next_request_id() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.emplace_back().request_id = free_.back();
  }
  return free_.back();
}

mpi_endpoint::transfer& mpi_endpoint::begin(transfer::kind kind, place place) {
  transfer& transfer = transfers_[next_request_id()];
  free_.pop_back();
  transfer.stage = kind;
  transfer.peer_place = place;
  link& via = peers_[place.peer].links[place.channel_index];
  if (kind == transfer::kind::arriving) {
    ++receiving_;
    return transfer;
  }
  ++sending_[place.channel_index];
  if (kind == transfer::kind::payload) ++via.payloads_pending;
  if (kind == transfer::kind::fragment) ++via.fragments_pending;
  if (kind == transfer::kind::matched) {
    via.window_filled = 0;
    ++via.matched_pending;
  }
  return transfer;
}

/// Handles the outcome of a call: the transfer goes on, or it ends.
void mpi_endpoint::handle_outcome(transfer& transfer, outcome outcome) {
  if (outcome == outcome::pending) return;
  link& via = peers_[transfer.peer_place.peer].links[transfer.peer_place.channel_index];
  const bool arrives = transfer.stage == transfer::kind::arriving;
  if (arrives) {
    --receiving_;
    receiving_bytes_ -= transfer.destination->m->header.payload_bytes;
    stall_timeout_.restart();
    if (outcome == outcome::done) {
      transfer.destination->complete = true;
      payloads_arrived_.push_back(transfer.peer_place);
    }
  } else {
    --sending_[transfer.peer_place.channel_index];
    if (transfer.stage == transfer::kind::payload) --via.payloads_pending;
    if (transfer.stage == transfer::kind::fragment) --via.fragments_pending;
    if (transfer.stage == transfer::kind::matched) --via.matched_pending;
  }
  transfer.stage = transfer::kind::unused;
  transfer.m.reset();
  free_.push_back(transfer.request_id);
  if (outcome != outcome::failed) return;
  // A rank that has sent its close message need not wait for transfers to it.
  if (arrives || peers_[transfer.peer_place.peer].now == peer::state::present) {
    lose(transfer.peer_place.peer, std::string("cannot be reached by MPI: ") + port_->error());
  }
}

bool mpi_endpoint::complete_transfers() {
  std::array<std::uint64_t, 64> request_ids;
  const port::completions ended = port_->completed(request_ids);
  for (std::uint32_t i = 0; i < ended.count; ++i) {
    const bool well = i + ended.failed < ended.count;
    handle_outcome(transfers_[request_ids[i]], well ? outcome::done : outcome::failed);
  }
  return ended.count != 0;
}

/// Starts waiting messages, as far as the links take them.
bool mpi_endpoint::pump() {
  bool moved = false;
  busy_.visit([&](place place) {
    link& via = peers_[place.peer].links[place.channel_index];
    for (; !via.waiting.empty() && !full(via, place.channel_index); moved = true) {
      message_ptr m = via.waiting.pop_front();
      via.waiting_bytes -= header_bytes + m->header.payload_bytes;
      start(place, std::move(m));
    }
    return !via.waiting.empty();
  });
  return moved;
}

}  // namespace nacre::transport::mpi
