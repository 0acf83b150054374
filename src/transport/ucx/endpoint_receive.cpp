// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint handles the events of its port.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "transport/frame.hpp"
#include "transport/ucx/compact_frame.hpp"
#include "transport/ucx/endpoint.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr std::size_t header_bytes = sizeof(message_header);

/// How far ahead of the next frame to deliver a frame may be. A sender has fewer in flight.
constexpr std::uint32_t ahead_max = 1u << 15;

/// The bytes of long messages that are fetched on a channel at a time; the message that reaches the limit may exceed
/// it. The others stay at their senders: then the block of a handled message is still in the cache when the next
/// message takes it. The limit covers the bytes that a fast network holds in flight.
constexpr std::size_t fetch_bytes_max = 512 * 1024;

/// The address of a message's frame.
std::byte* frame_at(message& m) noexcept { return m.body() - header_bytes; }

}  // namespace

/// The link of a frame; null: this endpoint ignores its sender.
ucx_endpoint::link* ucx_endpoint::link_of(std::uint32_t channel_index, const stamp& stamp) noexcept {
  if (stamp.source >= peers_.size()) return nullptr;
  peer& peer = peers_[stamp.source];
  if (peer.now == peer::state::lost || stamp.key != peer.parts.key_here) return nullptr;
  return &peer.links[channel_index];
}

/// The full number of a frame, from its last bits; nothing: this frame has come before.
std::optional<std::uint64_t> ucx_endpoint::number_of(const link& link, const stamp& stamp) const noexcept {
  const std::uint32_t unused_bits = 32 - number_bits(stamp);
  const std::uint32_t ahead =
      (stamp.sequence - static_cast<std::uint32_t>(link.delivered)) << unused_bits >> unused_bits;
  const std::uint64_t number = link.delivered + ahead;
  if (ahead >= ahead_max || link.held.contains(number)) return std::nullopt;
  return number;
}

/// The violation in a frame, as one clause; empty: none.
std::string_view ucx_endpoint::fault_of(const message_header& header, rank_id rank, std::size_t frame_bytes,
                                        std::uint32_t channel_index) const {
  if (header.kind > message_kind::reply) return describe(frame_error::unknown_kind);  // shutdown, too
  const frame_limits limits{.ranks = size(), .payload_bytes_max = declared().payload_bytes_max, .peer = rank};
  if (const auto wrong = check_header(header, limits)) return describe(*wrong);
  if (static_cast<std::uint32_t>(header.channel) != channel_index)
    return "sent a message on another channel than it belongs to";
  return header_bytes + header.payload_bytes == frame_bytes ? "" : "sent a message of another length";
}

/// Handles a compact frame, as most frames are; receive_frame, off the fast path, handles all others.
void ucx_endpoint::arrived(std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
                           std::span<const std::byte> frame) noexcept {
  exception_.keep([&] {
    link* const link = link_of(channel_index, stamp);
    if (link == nullptr) return;
    if (kind != frame_kind::message || !is_compact(stamp)) {
      return receive_frame(*link, channel_index, kind, stamp, frame);
    }
    if (const char* const fault = fault_of_compact(stamp, frame.size())) return lose(stamp.source, fault);
    message_ptr m = make_message(frame.size());
    expand(stamp, channel_index, m->header);
    if (!frame.empty()) std::memcpy(m->body(), frame.data(), frame.size());
    take(*link, stamp, std::move(m));
  });
}

void ucx_endpoint::receive_frame(link& link, std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
                                 std::span<const std::byte> frame) {
  if (kind == frame_kind::taken || kind == frame_kind::given) {  // though they should be announced
    const place place = place_for_bytes(kind, {stamp.source, stamp.sequence}, frame.size());
    if (place.address == nullptr) return;
    std::memcpy(place.address, frame.data(), frame.size());
    return ended(place.request_id, true);
  }
  if (kind != frame_kind::message) return copies_.receive(kind, {stamp.source, stamp.sequence});
  if (frame.empty()) {
    if (!std::exchange(link.heard, true)) --unheard_;
    return;
  }
  if (frame.size() < header_bytes) return lose(stamp.source, "sent something that is no message");
  message_header header;
  std::memcpy(&header, frame.data(), header_bytes);
  if (const auto fault = fault_of(header, rank_id(stamp.source), frame.size(), channel_index); !fault.empty()) {
    return lose(stamp.source, fault);
  }
  message_ptr m = make_message(frame.size() - header_bytes);
  std::memcpy(frame_at(*m), frame.data(), frame.size());
  take(link, stamp, std::move(m));
}

/// Takes a whole message. All but its number has been checked.
void ucx_endpoint::take(link& link, const stamp& stamp, message_ptr m) {
  const std::uint32_t ahead = (stamp.sequence - static_cast<std::uint32_t>(link.delivered))
                              << (32 - number_bits(stamp));
  if (ahead != 0 || !link.held.empty()) return take_out_of_order(link, stamp, std::move(m));
  ++link.delivered;
  destination_->push_back(std::move(m));
}

void ucx_endpoint::take_out_of_order(link& link, const stamp& stamp, message_ptr m) {
  const auto number = number_of(link, stamp);
  if (!number) return lose(stamp.source, "sent a message out of order");
  link.held.emplace(*number, incoming{std::move(m), true});
  deliver_held(link);
}

port_callbacks::place ucx_endpoint::place_for(std::uint32_t channel_index, frame_kind kind, const stamp& stamp,
                                              std::size_t byte_count, rendezvous_request as) noexcept {
  place result;
  exception_.keep([&] {
    link* const link = link_of(channel_index, stamp);
    if (link == nullptr || closed_) return;
    if (kind != frame_kind::message) {
      result = place_for_bytes(kind, {stamp.source, stamp.sequence}, byte_count);
      return;
    }
    const auto number = number_of(*link, stamp);
    const char* fault = number ? nullptr : "sent a message out of order";
    if (byte_count < header_bytes) fault = "sent something that is no message";
    if (byte_count > header_bytes + declared().payload_bytes_max) fault = "sent a message that is too long";
    if (fault != nullptr) return lose(stamp.source, fault);
    transfer& transfer = begin(transfer::kind::arriving, {stamp.source, channel_index});
    transfer.number = *number;
    transfer.bytes = byte_count;
    link->held.emplace(*number, incoming{});  // reserves its place in the order
    fetch_queues_[channel_index].waiting.push_back({transfer.request_id, as});
    ++requests_waiting_;
    result = {.request_id = transfer.request_id, .later = true};
  });
  return result;
}

/// Whether a frame is announced and fetch_bytes_max permits to start it.
bool ucx_endpoint::may_fetch(std::uint32_t channel_index) const noexcept {
  return !fetch_queues_[channel_index].waiting.empty() &&
         fetch_queues_[channel_index].bytes_under_way < fetch_bytes_max;
}

/// Starts announced frames, in order.
void ucx_endpoint::start_fetches(std::uint32_t channel_index) {
  fetch_queue& queue = fetch_queues_[channel_index];
  while (may_fetch(channel_index)) {
    const fetch_queue::request next = queue.waiting.front();
    queue.waiting.pop_front();
    --requests_waiting_;
    transfer& transfer = transfers_[next.request_id];
    peer& peer = peers_[transfer.peer_place.peer];
    if (peer.now == peer::state::lost) {
      port_->refuse(channel_index, next.rendezvous);
      release_transfer(transfer);
      continue;
    }
    message_ptr& m = peer.links[channel_index].held.at(transfer.number).m;
    m = make_message(transfer.bytes - header_bytes);
    queue.bytes_under_way += transfer.bytes;
    const outcome outcome =
        port_->fetch(channel_index, next.rendezvous, {frame_at(*m), transfer.bytes}, transfer.request_id);
    if (outcome != outcome::pending) ended(transfer.request_id, outcome == outcome::done);
  }
}

/// Before the port is destroyed: UCX requires every announced frame back.
void ucx_endpoint::refuse_requests() {
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    for (; !fetch_queues_[channel_index].waiting.empty(); fetch_queues_[channel_index].waiting.pop_front()) {
      port_->refuse(channel_index, fetch_queues_[channel_index].waiting.front().rendezvous);
    }
  }
  requests_waiting_ = 0;
}

void ucx_endpoint::take_fetched(transfer& transfer, bool well) {
  fetch_queues_[transfer.peer_place.channel_index].bytes_under_way -= transfer.bytes;
  link& link = peers_[transfer.peer_place.peer].links[transfer.peer_place.channel_index];
  const auto position = link.held.find(transfer.number);
  if (position == link.held.end()) return;
  incoming& incoming = position->second;
  if (peers_[transfer.peer_place.peer].now == peer::state::lost) {
    link.held.erase(position);
    return;
  }
  if (!well) return suspect(transfer.peer_place.peer, "a long message did not arrive");
  if (const auto fault = fault_of(incoming.m->header, rank_id(transfer.peer_place.peer), transfer.bytes,
                                  transfer.peer_place.channel_index);
      !fault.empty()) {
    return lose(transfer.peer_place.peer, fault);
  }
  incoming.complete = true;
  deliver_held(link);
}

/// Delivers held messages, up to the first one that is missing.
void ucx_endpoint::deliver_held(link& link) {
  while (!link.held.empty()) {
    const auto first = link.held.begin();
    if (first->first != link.delivered || !first->second.complete) return;
    destination_->push_back(std::move(first->second.m));
    link.held.erase(first);
    ++link.delivered;
  }
}

void ucx_endpoint::ended(std::uint64_t request_id, bool well) noexcept {
  exception_.keep([&] {
    transfer& transfer = transfers_[request_id];
    const transfer::kind kind = transfer.stage;
    if (kind == transfer::kind::arriving) {
      take_fetched(transfer, well);
    } else if (kind == transfer::kind::landing) {
      end_landing(transfer, well);
    } else {
      --sending_;
      if (kind == transfer::kind::frame)
        note_complete(peers_[transfer.peer_place.peer].links[transfer.peer_place.channel_index], transfer.number);
      if (kind == transfer::kind::region_leaves || kind == transfer::kind::own_leaves) end_leaving(transfer, well);
      if (!well) suspect(transfer.peer_place.peer, "a message did not leave");
    }
    release_transfer(transfer);
  });
}

void ucx_endpoint::broken(std::uint32_t rank, std::uint32_t, const char* reason) noexcept {
  exception_.keep([&] { suspect(rank, reason); });
}

}  // namespace nacre::transport::ucx
