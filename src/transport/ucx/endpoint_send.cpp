// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint sends messages.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/frame.hpp"
#include "transport/ucx/compact_frame.hpp"
#include "transport/ucx/endpoint.hpp"

namespace nacre::transport::ucx {

void ucx_endpoint::submit(rank_id destination, message_list& batch) {
  NACRE_EXPECT(destination.value() < peers_.size(), "no such rank");
  if (batch.empty()) return;
  if (destination == rank_) {
    own_messages_.append(batch);
    flags_.note_own();
    return wake();
  }
  const std::scoped_lock lock(lock_);
  peer& target = peers_[destination.value()];
  while (!batch.empty() && target.now == peer::state::present) {
    const auto channel_index = static_cast<std::uint32_t>(batch.front()->header.channel);
    link& via = target.links[channel_index];
    if (via.waiting.empty() && !full(via)) {
      message_ptr m = packed_form(batch.pop_front());
      if (!start_compact({destination.value(), channel_index}, target, via, *m))
        start({destination.value(), channel_index}, std::move(m));
      continue;
    }
    if (via.waiting_bytes >= output_bytes_max_) return;
    message_ptr m = packed_form(batch.pop_front());
    if (via.waiting.empty()) busy_.add({destination.value(), channel_index});
    via.waiting_bytes += frame_of(*m).size();
    via.waiting.push_back(std::move(m));
  }
  if (target.now != peer::state::present) batch.clear();
}

bool ucx_endpoint::full(const link& link) const noexcept {
  return !link.under_way.empty() && (link.under_way.size() >= frames_max ||
                                     link.sent_bytes - link.under_way.front().behind_bytes >= output_bytes_max_);
}

/// A frame that UCX takes at once needs no transfer. The stamp overwrites the end of the header, which lies right in
/// front of the payload and is not needed any more. False: nothing has happened.
bool ucx_endpoint::start_compact(place_of place, const peer& target, link& via, message& m) {
  if (!via.under_way.empty()) return false;
  stamp stamp{.key = target.parts.key_there, .source = rank_.value(), .sequence = via.sent};
  if (!compress(m.header, place.channel_index, stamp)) return false;
  const std::size_t payload_bytes = m.header.payload_bytes;
  std::byte* const stamped = m.body() - sizeof stamp;
  std::array<std::byte, sizeof stamp> end_of_header;
  std::memcpy(end_of_header.data(), stamped, sizeof stamp);
  std::memcpy(stamped, &stamp, sizeof stamp);
  if (!port_->send_at_once(place.peer, place.channel_index, {stamped, sizeof stamp + payload_bytes})) {
    std::memcpy(stamped, end_of_header.data(), sizeof stamp);
    return false;
  }
  ++via.sent;
  via.sent_bytes += payload_bytes;
  via.flushed = false;
  return true;
}

void ucx_endpoint::start(place_of place, message_ptr m) {
  NACRE_EXPECT(m->packed() && m->header.payload_bytes <= declared().payload_bytes_max,
               "only bytes leave the address space, at most payload_bytes_max");
  link& via = peers_[place.peer].links[place.channel_index];
  transfer& transfer = begin(transfer::kind::frame, place);
  via.flushed = false;
  transfer.frame_stamp.sequence = via.sent++;
  transfer.m = std::move(m);
  std::span<const std::byte> frame = frame_of(*transfer.m);
  if (compress(transfer.m->header, place.channel_index, transfer.frame_stamp)) frame = transfer.m->payload();
  const std::uint64_t rest = std::exchange(via.sent_bytes, via.sent_bytes + frame.size());
  const outcome outcome = port_->send(place.peer, place.channel_index, frame_kind::message, transfer.frame_stamp, frame,
                                      transfer.request_id);
  if (outcome == outcome::pending || !via.under_way.empty()) {
    transfer.number = via.first_under_way + via.under_way.size();
    via.under_way.push_back({.behind_bytes = rest, .complete = outcome != outcome::pending});
  }
  handle_outcome(transfer, outcome);
}

ucx_endpoint::transfer& ucx_endpoint::begin(transfer::kind kind, place_of place) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.emplace_back().request_id = free_.back();
  }
  transfer& transfer = transfers_[free_.back()];
  free_.pop_back();
  transfer.stage = kind;
  transfer.peer_place = place;
  transfer.frame_stamp.key = peers_[place.peer].parts.key_there;
  transfer.frame_stamp.source = rank_.value();
  transfer.frame_stamp.form = 0;
  return transfer;
}

/// Handles the outcome of a send: it goes on, or it ends.
void ucx_endpoint::handle_outcome(transfer& transfer, outcome outcome) {
  if (outcome == outcome::pending) {
    ++sending_;
    return;
  }
  release_transfer(transfer);
  if (outcome == outcome::failed) suspect(transfer.peer_place.peer, port_->error());
}

void ucx_endpoint::release_transfer(transfer& transfer) {
  transfer.stage = transfer::kind::unused;
  transfer.m.reset();
  free_.push_back(transfer.request_id);
}

void ucx_endpoint::note_complete(link& via, std::uint64_t number) {
  via.under_way[number - via.first_under_way].complete = true;
  for (; !via.under_way.empty() && via.under_way.front().complete; via.under_way.pop_front()) ++via.first_under_way;
}

/// Starts waiting messages, as far as the links take them.
bool ucx_endpoint::pump() {
  bool moved = false;
  busy_.visit([&](place_of place) {
    link& via = peers_[place.peer].links[place.channel_index];
    for (; !via.waiting.empty() && !full(via); moved = true) {
      message_ptr m = via.waiting.pop_front();
      via.waiting_bytes -= frame_of(*m).size();
      start(place, std::move(m));
    }
    return !via.waiting.empty();
  });
  return moved;
}

void ucx_endpoint::forget_waiting(peer& peer) {
  for (link& each : peer.links) {
    each.waiting.clear();  // pump removes it from busy_
    each.waiting_bytes = 0;
  }
}

}  // namespace nacre::transport::ucx
