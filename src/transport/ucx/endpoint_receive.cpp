// SPDX-License-Identifier: Apache-2.0
// How a rank's end handles the events of its port.
#include <cstring>
#include <utility>

#include "transport/tcp/frame.hpp"
#include "transport/ucx/brief.hpp"
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

/// The link of a frame; null: this end ignores its sender.
ucx_endpoint::link* ucx_endpoint::link_of(std::uint32_t lane, const stamp& of) noexcept {
  if (of.source >= peers_.size()) return nullptr;
  peer& from = peers_[of.source];
  if (from.now == peer::state::lost || of.key != from.parts.key_here) return nullptr;
  return &from.links[lane];
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
                                        std::uint32_t lane) const {
  if (header.kind > message_kind::reply) return tcp::describe(tcp::frame_error::unknown_kind);  // shutdown, too
  const tcp::frame_limits limits{.ranks = size(), .payload_bytes_max = declared().payload_bytes_max, .peer = by};
  if (const auto wrong = tcp::check_header(header, limits)) return tcp::describe(*wrong);
  if (static_cast<std::uint32_t>(header.channel) != lane) return "sent a message on another channel than it belongs to";
  return header_bytes + header.payload_bytes == frame_bytes ? "" : "sent a message of another length";
}

/// Handles a compact frame, as most frames are; hear_frame, off the fast path, handles all others.
void ucx_endpoint::arrived(std::uint32_t lane, frame_kind what, const stamp& of,
                           std::span<const std::byte> frame) noexcept {
  link* const from = link_of(lane, of);
  if (from == nullptr) return;
  if (what != frame_kind::message || !is_brief(of)) return hear_frame(*from, lane, what, of, frame);
  if (const char* const fault = fault_of_brief(of, frame.size())) return lose(of.source, fault);
  message_ptr m = make_message(frame.size());
  spell_out(of, lane, m->header);
  if (!frame.empty()) std::memcpy(m->body(), frame.data(), frame.size());
  take(*from, of, std::move(m));
}

void ucx_endpoint::hear_frame(link& from, std::uint32_t lane, frame_kind what, const stamp& of,
                              std::span<const std::byte> frame) {
  if (what == frame_kind::taken || what == frame_kind::given) {  // though they should be announced
    const place into = place_for_bytes(what, of, frame.size());
    if (into.at == nullptr) return;
    std::memcpy(into.at, frame.data(), frame.size());
    return ended(into.ticket, true);
  }
  if (what != frame_kind::message) return hear_word(what, of);
  if (frame.empty()) {
    if (!std::exchange(from.heard, true)) --unheard_;
    return;
  }
  if (frame.size() < header_bytes) return lose(of.source, "sent something that is no message");
  message_header header;
  std::memcpy(&header, frame.data(), header_bytes);
  if (const auto fault = fault_of(header, rank_id(of.source), frame.size(), lane); !fault.empty()) {
    return lose(of.source, fault);
  }
  message_ptr m = make_message(frame.size() - header_bytes);
  std::memcpy(frame_at(*m), frame.data(), frame.size());
  take(from, of, std::move(m));
}

/// Takes a whole message. All but its number has been checked.
void ucx_endpoint::take(link& from, const stamp& of, message_ptr m) {
  const std::uint32_t ahead = (of.sequence - static_cast<std::uint32_t>(from.delivered)) << (32 - number_bits(of));
  if (ahead != 0 || !from.held.empty()) return take_out_of_turn(from, of, std::move(m));
  ++from.delivered;
  into_->push_back(std::move(m));
}

void ucx_endpoint::take_out_of_turn(link& from, const stamp& of, message_ptr m) {
  const auto number = number_of(from, of);
  if (!number) return lose(of.source, "sent a message out of its turn");
  from.held.emplace(*number, incoming{std::move(m), true});
  deliver_held(from);
}

listener::place ucx_endpoint::place_for(std::uint32_t lane, frame_kind what, const stamp& of, std::size_t byte_count,
                                        announcement as) noexcept {
  link* const from = link_of(lane, of);
  if (from == nullptr || closed_) return {};
  if (what != frame_kind::message) return place_for_bytes(what, of, byte_count);
  const auto number = number_of(*from, of);
  const char* fault = number ? nullptr : "sent a message out of its turn";
  if (byte_count < header_bytes) fault = "sent something that is no message";
  if (byte_count > header_bytes + declared().payload_bytes_max) fault = "sent a message that is too long";
  if (fault != nullptr) {
    lose(of.source, fault);
    return {};
  }
  transfer& it = begin(transfer::kind::arriving, {of.source, lane});
  it.number = *number;
  it.bytes = byte_count;
  from->held.emplace(*number, incoming{});  // reserves its place in the order
  arrivals_[lane].waiting.push_back({it.ticket, as});
  ++announced_;
  return {.ticket = it.ticket, .later = true};
}

/// Whether a frame is announced and fetch_bytes_max permits to start it.
bool ucx_endpoint::may_fetch(std::uint32_t lane) const noexcept {
  return !arrivals_[lane].waiting.empty() && arrivals_[lane].bytes_under_way < fetch_bytes_max;
}

/// Starts announced frames, in order.
void ucx_endpoint::fetch_announced(std::uint32_t lane) {
  arrivals& of = arrivals_[lane];
  while (may_fetch(lane)) {
    const arrivals::announced next = of.waiting.front();
    of.waiting.pop_front();
    --announced_;
    transfer& it = transfers_[next.ticket];
    peer& from = peers_[it.of.peer];
    if (from.now == peer::state::lost) {
      port_->refuse(lane, next.which);
      give_up(it);
      continue;
    }
    message_ptr& m = from.links[lane].held.at(it.number).m;
    m = make_message(it.bytes - header_bytes);
    of.bytes_under_way += it.bytes;
    const outcome how = port_->fetch(lane, next.which, {frame_at(*m), it.bytes}, it.ticket);
    if (how != outcome::pending) ended(it.ticket, how == outcome::done);
  }
}

/// Before the port is destroyed: UCX requires every announced frame back.
void ucx_endpoint::drop_announced() {
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    for (; !arrivals_[lane].waiting.empty(); arrivals_[lane].waiting.pop_front()) {
      port_->refuse(lane, arrivals_[lane].waiting.front().which);
    }
  }
  announced_ = 0;
}

void ucx_endpoint::take_body(transfer& it, bool well) {
  arrivals_[it.of.lane].bytes_under_way -= it.bytes;
  link& from = peers_[it.of.peer].links[it.of.lane];
  const auto at = from.held.find(it.number);
  if (at == from.held.end()) return;
  incoming& what = at->second;
  if (peers_[it.of.peer].now == peer::state::lost) {
    from.held.erase(at);
    return;
  }
  if (!well) return suspect(it.of.peer, "a long message did not arrive");
  if (const auto fault = fault_of(what.m->header, rank_id(it.of.peer), it.bytes, it.of.lane); !fault.empty()) {
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

void ucx_endpoint::ended(std::uint64_t ticket, bool well) noexcept {
  transfer& it = transfers_[ticket];
  const transfer::kind what = it.what;
  if (what == transfer::kind::arriving) {
    take_body(it, well);
  } else if (what == transfer::kind::landing) {
    end_landing(it, well);
  } else {
    --sending_;
    if (what == transfer::kind::frame) note_complete(peers_[it.of.peer].links[it.of.lane], it.number);
    if (what == transfer::kind::lent_leaves || what == transfer::kind::own_leaves) end_leaving(it, well);
    if (!well) suspect(it.of.peer, "a message did not leave");
  }
  give_up(it);
}

void ucx_endpoint::broken(std::uint32_t rank, std::uint32_t, const char* why) noexcept { suspect(rank, why); }

}  // namespace nacre::transport::ucx
