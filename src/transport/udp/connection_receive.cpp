// SPDX-License-Identifier: Apache-2.0
// The reliable protocol between two ranks over datagrams: what arrives.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <nacre/assert.hpp>

#include "transport/udp/connection.hpp"

namespace nacre::transport::udp {
namespace {

constexpr std::uint32_t datagrams_an_acknowledgement = 8;
constexpr std::size_t landing_min = 16'384;  // a shorter rest of a message is copied in less time

constexpr std::size_t stream_place(channel channel) noexcept { return static_cast<std::size_t>(channel); }

}  // namespace

arrival connection::fail(std::string_view reason) {
  leave();
  failed_ = true;
  ack_deadline_ = never;
  reason_ = reason;
  return arrival::failed;
}

arrival connection::on_datagram(std::span<const std::byte> bytes, time_point now, messages_by_channel& arrived) {
  if (failed_) return arrival::no_datagram;
  if (!incoming_.verify(bytes)) return arrival::no_datagram;
  ack_ranges ranges;
  const auto datagram = read_datagram(bytes, ranges);
  if (!datagram) return fail("sent a datagram that makes no sense");
  return take(*datagram, bytes.size(), now,
              [&] { return datagram->kind != datagram_kind::stream || take_bytes(*datagram, arrived); });
}

/// The effects of an authentic datagram.
template <class TakeBytes>
arrival connection::take(const datagram& datagram, std::size_t bytes, time_point now, TakeBytes take_bytes) {
  if (!received_.is_new(datagram.number)) return arrival::replayed;
  const bool in_sequence = datagram.number == received_.end();
  if (!take_acknowledgement(datagram, now)) return fail("acknowledged a datagram that was never sent");
  if (!take_bytes()) return fail(reason_);
  static_cast<void>(received_.accept(datagram.number));
  note_received(datagram, bytes, in_sequence, now);
  return arrival::taken;
}

landing connection::next_landing() noexcept {
  if (failed_ || !incoming_.takes_pieces()) return {};
  receive_stream& stream = from_peer_[stream_place(on_before_)];
  const std::span<std::byte> place = stream.place();
  if (place.size() < landing_min) return {};
  return {
      .head_bytes = overhead_of(ranges_before_), .place = place, .offset = stream.next(), .stream_channel = on_before_};
}

bool connection::fits(const landed_datagram& datagram, const landing& landing) noexcept {
  if (datagram.written == 0) return false;
  ack_ranges ranges;
  const auto read = read_datagram(datagram.head, ranges, datagram.written + datagram.tail.size());
  return read && read->kind == datagram_kind::stream && read->stream_channel == landing.stream_channel &&
         read->offset == landing.offset && read->bytes.empty();
}

arrival connection::on_landed(const landed_datagram& datagram, const landing& landing, time_point now,
                              messages_by_channel& arrived) {
  if (failed_) return arrival::no_datagram;
  const std::array<std::span<const std::byte>, 2> rest{landing.place.first(datagram.written), datagram.tail};
  if (!incoming_.verify(datagram.head, rest)) return arrival::no_datagram;
  ack_ranges ranges;
  const std::size_t bytes = datagram.written + datagram.tail.size();
  const auto read = read_datagram(datagram.head, ranges, bytes);
  NACRE_EXPECT(read && fits(datagram, landing), "only datagrams that fit have landed");
  receive_stream& stream = from_peer_[stream_place(landing.stream_channel)];
  return take(*read, datagram.head.size() + bytes, now, [&] {
    return accept_bytes(
        stream.add_written(datagram.written, datagram.tail, arrived[stream_place(landing.stream_channel)]));
  });
}

bool connection::take_acknowledgement(const datagram& datagram, time_point now) {
  if (datagram.acknowledged.empty()) return true;
  if (datagram.acknowledged[0].end > sent_.next_number()) return false;
  arrived_.clear();
  lost_.clear();
  sent_.on_acknowledgement(datagram.acknowledged, std::chrono::microseconds(datagram.ack_delay_us), now, arrived_,
                           lost_);
  for (const sent_datagram& each : arrived_) {
    window_.on_acknowledged(each.bytes, each.time, window_blocks_);
    unreliable_read_ = std::max(unreliable_read_, each.unreliable_before);
    confirmed_ = std::max(confirmed_, each.ack_end);
    if (each.stream_bytes == 0) continue;
    to_peer_[stream_place(each.stream_channel)].on_acknowledged({.offset = each.offset, .bytes = each.stream_bytes});
  }
  for (const sent_datagram& each : lost_) window_.on_lost(each.time, now);
  return_to_streams(lost_);
  return true;
}

bool connection::take_bytes(const datagram& datagram, messages_by_channel& arrived) {
  on_before_ = datagram.stream_channel;
  ranges_before_ = datagram.acknowledged.size();
  receive_stream& stream = from_peer_[stream_place(datagram.stream_channel)];
  if (!stream.within_window(datagram.offset, datagram.bytes.size())) {
    reason_ = "sent bytes beyond the window of their channel";
    return false;
  }
  return accept_bytes(stream.add(datagram.offset, datagram.bytes, arrived[stream_place(datagram.stream_channel)]));
}

bool connection::accept_bytes(std::optional<frame_error> error) {
  if (error) reason_ = describe(*error);
  return !error;
}

/// Decides when to acknowledge: at once when something is missing or much has come, else together with the next bytes
/// for the peer, or after ack_delay_max.
void connection::note_received(const datagram& datagram, std::size_t bytes, bool in_sequence, time_point now) noexcept {
  if (datagram.number + 1 == received_.end()) newest_at_ = now;
  if (datagram.kind == datagram_kind::acknowledgement) return;
  ++unacknowledged_;
  unacknowledged_bytes_ += bytes;
  const bool much =
      unacknowledged_ >= datagrams_an_acknowledgement || unacknowledged_bytes_ >= limits_.acknowledge_bytes;
  if (!in_sequence || much || datagram.kind == datagram_kind::ping) {
    ack_deadline_ = time_point::min();
  } else if (ack_deadline_ == never) {
    ack_deadline_ = now + round_trip::ack_delay_max;
  }
}

}  // namespace nacre::transport::udp
