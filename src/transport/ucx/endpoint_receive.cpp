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
ucx_endpoint::link* ucx_endpoint::link_of(std::uint32_t channel_index, const stamp& of) noexcept {
  if (of.source >= peers_.size()) return nullptr;
  peer& from = peers_[of.source];
  if (from.now == peer::state::lost || of.key != from.parts.key_here) return nullptr;
  return &from.links[channel_index];
}

/// The full number of a frame, from its last bits; nothing: this frame has come before.
std::optional<std::uint64_t> ucx_endpoint::number_of(const link& from, const stamp& of) const noexcept {
  const std::uint32_t unused_bits = 32 - number_bits(of);
  const std::uint32_t ahead = (of.sequence - static_cast<std::uint32_t>(from.delivered)) << unused_bits >> unused_bits;
  const std::uint64_t number = from.delivered + ahead;
  if (ahead >= ahead_max || from.held.contains(number)) return std::nullopt;
  return number;
}

/// The violation in a frame, as one clause; empty: none.
std::string_view ucx_endpoint::fault_of(const message_header& header, rank_id by, std::size_t frame_bytes,
                                        std::uint32_t channel_index) const {
  if (header.kind > message_kind::reply) return describe(frame_error::unknown_kind);  // shutdown, too
  const frame_limits limits{.ranks = size(), .payload_bytes_max = declared().payload_bytes_max, .peer = by};
  if (const auto wrong = check_header(header, limits)) return describe(*wrong);
  if (static_cast<std::uint32_t>(header.channel) != channel_index)
    return "sent a message on another channel than it belongs to";
  return header_bytes + header.payload_bytes == frame_bytes ? "" : "sent a message of another length";
}

/// Handles a compact frame, as most frames are; receive_frame, off the fast path, handles all others.
void ucx_endpoint::arrived(std::uint32_t channel_index, frame_kind what, const stamp& of,
                           std::span<const std::byte> frame) noexcept {
  link* const from = link_of(channel_index, of);
  if (from == nullptr) return;
  if (what != frame_kind::message || !is_compact(of)) return receive_frame(*from, channel_index, what, of, frame);
  if (const char* const fault = fault_of_compact(of, frame.size())) return lose(of.source, fault);
  message_ptr m = make_message(frame.size());
  expand(of, channel_index, m->header);
  if (!frame.empty()) std::memcpy(m->body(), frame.data(), frame.size());
  take(*from, of, std::move(m));
}

void ucx_endpoint::receive_frame(link& from, std::uint32_t channel_index, frame_kind what, const stamp& of,
                                 std::span<const std::byte> frame) {
  if (what == frame_kind::taken || what == frame_kind::given) {  // though they should be announced
    const place into = place_for_bytes(what, {of.source, of.sequence}, frame.size());
    if (into.at == nullptr) return;
    std::memcpy(into.at, frame.data(), frame.size());
    return ended(into.request_id, true);
  }
  if (what != frame_kind::message) return copies_.receive(what, {of.source, of.sequence});
  if (frame.empty()) {
    if (!std::exchange(from.heard, true)) --unheard_;
    return;
  }
  if (frame.size() < header_bytes) return lose(of.source, "sent something that is no message");
  message_header header;
  std::memcpy(&header, frame.data(), header_bytes);
  if (const auto fault = fault_of(header, rank_id(of.source), frame.size(), channel_index); !fault.empty()) {
    return lose(of.source, fault);
  }
  message_ptr m = make_message(frame.size() - header_bytes);
  std::memcpy(frame_at(*m), frame.data(), frame.size());
  take(from, of, std::move(m));
}

/// Takes a whole message. All but its number has been checked.
void ucx_endpoint::take(link& from, const stamp& of, message_ptr m) {
  const std::uint32_t ahead = (of.sequence - static_cast<std::uint32_t>(from.delivered)) << (32 - number_bits(of));
  if (ahead != 0 || !from.held.empty()) return take_out_of_order(from, of, std::move(m));
  ++from.delivered;
  into_->push_back(std::move(m));
}

void ucx_endpoint::take_out_of_order(link& from, const stamp& of, message_ptr m) {
  const auto number = number_of(from, of);
  if (!number) return lose(of.source, "sent a message out of order");
  from.held.emplace(*number, incoming{std::move(m), true});
  deliver_held(from);
}

port_callbacks::place ucx_endpoint::place_for(std::uint32_t channel_index, frame_kind what, const stamp& of,
                                              std::size_t byte_count, rendezvous_request as) noexcept {
  link* const from = link_of(channel_index, of);
  if (from == nullptr || closed_) return {};
  if (what != frame_kind::message) return place_for_bytes(what, {of.source, of.sequence}, byte_count);
  const auto number = number_of(*from, of);
  const char* fault = number ? nullptr : "sent a message out of order";
  if (byte_count < header_bytes) fault = "sent something that is no message";
  if (byte_count > header_bytes + declared().payload_bytes_max) fault = "sent a message that is too long";
  if (fault != nullptr) {
    lose(of.source, fault);
    return {};
  }
  transfer& it = begin(transfer::kind::arriving, {of.source, channel_index});
  it.number = *number;
  it.bytes = byte_count;
  from->held.emplace(*number, incoming{});  // reserves its place in the order
  fetch_queues_[channel_index].waiting.push_back({it.request_id, as});
  ++requests_waiting_;
  return {.request_id = it.request_id, .later = true};
}

/// Whether a frame is announced and fetch_bytes_max permits to start it.
bool ucx_endpoint::may_fetch(std::uint32_t channel_index) const noexcept {
  return !fetch_queues_[channel_index].waiting.empty() &&
         fetch_queues_[channel_index].bytes_under_way < fetch_bytes_max;
}

/// Starts announced frames, in order.
void ucx_endpoint::start_fetches(std::uint32_t channel_index) {
  fetch_queue& of = fetch_queues_[channel_index];
  while (may_fetch(channel_index)) {
    const fetch_queue::request next = of.waiting.front();
    of.waiting.pop_front();
    --requests_waiting_;
    transfer& it = transfers_[next.request_id];
    peer& from = peers_[it.of.peer];
    if (from.now == peer::state::lost) {
      port_->refuse(channel_index, next.which);
      release_transfer(it);
      continue;
    }
    message_ptr& m = from.links[channel_index].held.at(it.number).m;
    m = make_message(it.bytes - header_bytes);
    of.bytes_under_way += it.bytes;
    const outcome how = port_->fetch(channel_index, next.which, {frame_at(*m), it.bytes}, it.request_id);
    if (how != outcome::pending) ended(it.request_id, how == outcome::done);
  }
}

/// Before the port is destroyed: UCX requires every announced frame back.
void ucx_endpoint::refuse_requests() {
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    for (; !fetch_queues_[channel_index].waiting.empty(); fetch_queues_[channel_index].waiting.pop_front()) {
      port_->refuse(channel_index, fetch_queues_[channel_index].waiting.front().which);
    }
  }
  requests_waiting_ = 0;
}

void ucx_endpoint::take_fetched(transfer& it, bool well) {
  fetch_queues_[it.of.channel_index].bytes_under_way -= it.bytes;
  link& from = peers_[it.of.peer].links[it.of.channel_index];
  const auto at = from.held.find(it.number);
  if (at == from.held.end()) return;
  incoming& what = at->second;
  if (peers_[it.of.peer].now == peer::state::lost) {
    from.held.erase(at);
    return;
  }
  if (!well) return suspect(it.of.peer, "a long message did not arrive");
  if (const auto fault = fault_of(what.m->header, rank_id(it.of.peer), it.bytes, it.of.channel_index); !fault.empty()) {
    return lose(it.of.peer, fault);
  }
  what.complete = true;
  deliver_held(from);
}

/// Delivers held messages, up to the first one that is missing.
void ucx_endpoint::deliver_held(link& from) {
  while (!from.held.empty()) {
    const auto first = from.held.begin();
    if (first->first != from.delivered || !first->second.complete) return;
    into_->push_back(std::move(first->second.m));
    from.held.erase(first);
    ++from.delivered;
  }
}

void ucx_endpoint::ended(std::uint64_t request_id, bool well) noexcept {
  transfer& it = transfers_[request_id];
  const transfer::kind what = it.what;
  if (what == transfer::kind::arriving) {
    take_fetched(it, well);
  } else if (what == transfer::kind::landing) {
    end_landing(it, well);
  } else {
    --sending_;
    if (what == transfer::kind::frame) note_complete(peers_[it.of.peer].links[it.of.channel_index], it.number);
    if (what == transfer::kind::region_leaves || what == transfer::kind::own_leaves) end_leaving(it, well);
    if (!well) suspect(it.of.peer, "a message did not leave");
  }
  release_transfer(it);
}

void ucx_endpoint::broken(std::uint32_t rank, std::uint32_t, const char* why) noexcept { suspect(rank, why); }

}  // namespace nacre::transport::ucx
