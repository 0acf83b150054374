// SPDX-License-Identifier: Apache-2.0
// The reliable protocol between two ranks over datagrams: what leaves, and the time that passes.
#include "transport/udp/connection.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/transport.hpp"

namespace nacre::transport::udp {
namespace {

constexpr channel other_of(channel traffic_channel) noexcept {
  return traffic_channel == channel::application ? channel::bulk : channel::application;
}
constexpr std::size_t usual_ranges = 2;        // room is kept for two, so that bytes sent again fit as before
constexpr std::size_t apart_min = 8192;        // shorter stretches are copied behind the head in less time
constexpr std::uint32_t patient_silences = 6;  // so many in a row may only mean that the peer waits for a processor

constexpr std::size_t place_of(channel channel) noexcept { return static_cast<std::size_t>(channel); }

frame_limits of_channel(frame_limits limits, channel channel) noexcept {
  limits.channels = 1u << place_of(channel);
  return limits;
}

}  // namespace

std::uint32_t buffer_bytes_of(std::size_t datagram_bytes) noexcept {
  constexpr std::size_t bookkeeping = 768;
  constexpr std::size_t linear_max = 16 * 1024;  // longer ones lie in pages
  if (datagram_bytes > linear_max) return static_cast<std::uint32_t>(datagram_bytes + 4 * bookkeeping);
  return static_cast<std::uint32_t>(std::bit_ceil(datagram_bytes + bookkeeping / 2) + bookkeeping);
}

connection::connection(const connection_limits& limits, datagram_key outgoing, datagram_key incoming)
    : limits_(limits),
      outgoing_(std::move(outgoing)),
      incoming_(std::move(incoming)),
      from_peer_{receive_stream(of_channel(limits.frames, channel::system)),
                 receive_stream(of_channel(limits.frames, channel::application)),
                 receive_stream(of_channel(limits.frames, channel::bulk))},
      sent_(limits.first_number),
      window_(limits.datagram_bytes, limits.network_bytes_min) {
  NACRE_EXPECT(limits_.datagram_bytes > overhead_of(ack_ranges_max), "a datagram has room for some bytes");
}

void connection::submit(message_list& batch, std::uint64_t held_bytes_max) {
  if (left_ || failed_) return batch.clear();
  if (batch.empty()) return;
  send_stream& stream = to_peer_[place_of(batch.front()->header.channel)];
  while (!batch.empty() && stream.held_bytes() < held_bytes_max) {
    check_outgoing(*batch.front());
    stream.push(batch.pop_front());
  }
}

/// The windows of the network and of the peer's socket. System messages find room in both when the others have filled
/// their share, so that they wait for nobody.
bool connection::may_leave(channel channel, std::size_t bytes) noexcept {
  if (sent_.in_flight() == 0 || probe_) return true;
  const bool system = channel == channel::system;
  const std::uint64_t window = window_.bytes() + (system ? 2 * std::uint64_t{limits_.datagram_bytes} : 0);
  const std::uint64_t buffer = limits_.peer_buffer_bytes - (system ? 0 : limits_.peer_buffer_bytes / 8);
  const bool fits = sent_.bytes_in_flight() + bytes <= window;
  window_blocks_ |= !fits;
  const std::uint64_t unread = sent_.buffer_bytes_in_flight() + unreliable_sent_ - unreliable_read_;
  return fits && unread + buffer_bytes_of(bytes) <= buffer;
}

bool connection::has_room_for_unreliable(std::size_t bytes) const noexcept {
  return unreliable_sent_ - unreliable_read_ + buffer_bytes_of(bytes) <= limits_.peer_buffer_bytes / 2;
}

void connection::note_unreliable(std::size_t bytes) noexcept {
  unreliable_sent_ += buffer_bytes_of(bytes);
  if (!left_ && !failed_ && unreliable_sent_ - unreliable_marked_ >= limits_.peer_buffer_bytes / 8) mark_ = true;
}

std::size_t connection::room_for_bytes(std::size_t ranges) const noexcept {
  return limits_.datagram_bytes - overhead_of(std::max(ranges, usual_ranges));
}

/// Sets the kind, and the channel of the bytes to send. False: nothing is to leave.
bool connection::choose(datagram& next) {
  const std::size_t front = overhead_of(next.acknowledged.size());
  if (!left_ && !failed_) {
    bool some = false;
    for (const channel channel : {channel::system, turn_, other_of(turn_)}) {
      const std::size_t bytes = to_peer_[place_of(channel)].available(room_for_bytes(next.acknowledged.size()));
      some |= bytes != 0;
      if (bytes == 0 || !may_leave(channel, front + bytes)) continue;
      next.kind = datagram_kind::stream;
      next.stream_channel = channel;
      return true;
    }
    window_blocks_ &= some;
    if (ping_ || mark_ || (probe_ && sent_.in_flight() > 0)) {
      next.kind = datagram_kind::ping;
      return true;
    }
  }
  return ack_deadline_ == time_point::min();
}

void connection::acknowledge_into(datagram& next, time_point now) noexcept {
  // A gap never closes, because lost bytes travel under new numbers. So report each gap only until the peer knows it.
  const std::span<const number_range> all = received_.ranges().view();
  std::size_t count = std::min<std::size_t>(all.size(), 1);
  while (count < all.size() && all[count].end > confirmed_) ++count;
  next.acknowledged = all.first(count);
  const auto delay = std::chrono::duration_cast<std::chrono::microseconds>(now - newest_at_).count();
  next.ack_delay_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(delay, 0, 1'000'000));
}

std::size_t connection::next_datagram(std::span<std::byte> target, time_point now, datagram_pieces* apart) {
  NACRE_ASSERT(target.size() >= limits_.datagram_bytes, "there is room for a datagram");
  if (apart != nullptr) apart->count = 0;
  datagram next{.number = sent_.next_number()};
  acknowledge_into(next, now);
  if (!choose(next)) return 0;
  stretch taken{};
  if (next.kind == datagram_kind::stream) {
    taken = to_peer_[place_of(next.stream_channel)].take(room_for_bytes(next.acknowledged.size()));
    next.offset = taken.offset;
  }
  const std::size_t written = write(next, taken, target, apart);
  const bool is_apart = apart != nullptr && apart->count != 0;
  note_sent(next, taken, written + (is_apart ? taken.bytes : 0), now);
  return written;
}

/// Writes and signs a datagram, or only its head, when its bytes stay apart. Returns the number of bytes written.
std::size_t connection::write(const datagram& next, stretch taken, std::span<std::byte> target,
                              datagram_pieces* apart) {
  const std::size_t head = write_head(next, target);  // may leave out ranges that are too old for the format
  if (next.kind == datagram_kind::ping && ping_) {    // as long as any datagram, to show that the path carries it
    std::fill(target.begin() + static_cast<std::ptrdiff_t>(head), target.begin() + limits_.datagram_bytes,
              std::byte{0});
    outgoing_.sign(target.first(limits_.datagram_bytes));
    return limits_.datagram_bytes;
  }
  if (next.kind == datagram_kind::stream) {
    const send_stream& stream = to_peer_[place_of(next.stream_channel)];
    if (apart != nullptr && taken.bytes >= apart_min && outgoing_.takes_pieces())
      apart->count = stream.places_of(taken, apart->each);
    if (apart != nullptr && apart->count != 0) {
      outgoing_.sign(target.first(head), apart->view());
      return head;
    }
    stream.copy(taken, target.subspan(head));
  }
  outgoing_.sign(target.first(head + taken.bytes));
  return head + taken.bytes;
}

void connection::note_sent(const datagram& datagram, stretch taken, std::size_t bytes, time_point now) {
  unacknowledged_ = 0;
  unacknowledged_bytes_ = 0;
  ack_deadline_ = never;
  const bool asks = datagram.kind != datagram_kind::acknowledgement;
  if (asks) probe_ = false;
  if (datagram.kind == datagram_kind::ping) ping_ = false;
  if (asks) {
    mark_ = false;
    unreliable_marked_ = unreliable_sent_;
  }
  if (datagram.kind == datagram_kind::stream && datagram.stream_channel != channel::system)
    turn_ = other_of(datagram.stream_channel);
  sent_.add({.time = now,
             .offset = datagram.offset,
             .stream_bytes = static_cast<std::uint32_t>(taken.bytes),
             .bytes = static_cast<std::uint32_t>(bytes),
             .buffer_bytes = buffer_bytes_of(bytes),
             .stream_channel = datagram.stream_channel,
             .ack_end = received_.end(),
             .unreliable_before = unreliable_sent_,
             .in_flight = asks});
}

void connection::return_to_streams(std::span<const sent_datagram> sent_datagrams) {
  for (const sent_datagram& each : sent_datagrams) {
    if (each.stream_bytes == 0) {
      (each.bytes == limits_.datagram_bytes ? ping_ : mark_) = true;
    } else if (!left_) {
      to_peer_[place_of(each.stream_channel)].on_lost({.offset = each.offset, .bytes = each.stream_bytes});
    }
  }
}

void connection::withdraw(std::uint64_t first_number) {
  // The withdrawn datagram may have carried the latest acknowledgement.
  if (unacknowledged_ == 0 && !received_.empty()) ack_deadline_ = time_point::min();
  lost_.clear();
  sent_.withdraw(first_number, lost_);
  return_to_streams(lost_);
}

time_point connection::deadline() const noexcept { return std::min(ack_deadline_, sent_.deadline()); }

void connection::on_deadline(time_point now) {
  if (ack_deadline_ <= now) ack_deadline_ = time_point::min();
  if (sent_.deadline() > now) return;
  lost_.clear();
  if (sent_.on_deadline(now, lost_)) {
    probe_ = true;
    if (sent_.silences() >= patient_silences) window_.on_silence();
  } else {
    for (const sent_datagram& each : lost_) window_.on_lost(each.time, now);
  }
  return_to_streams(lost_);
}

bool connection::unsent() const noexcept {
  return std::any_of(to_peer_.begin(), to_peer_.end(), [](const send_stream& each) { return each.unsent(); });
}

bool connection::all_acknowledged() const noexcept {
  return !ping_ && !mark_ && sent_.in_flight() == 0 &&
         std::all_of(to_peer_.begin(), to_peer_.end(), [](const send_stream& each) { return each.held_bytes() == 0; });
}

bool connection::under_way() noexcept {
  bool any = unsent();
  for (std::size_t place = 0; place < channel_count; ++place) {
    if (to_peer_[place].acknowledged() < left_before_[place]) any = true;
    left_before_[place] = to_peer_[place].sent();
  }
  return any;
}

void connection::leave() noexcept {
  left_ = true;
  ping_ = mark_ = probe_ = false;
  lost_.clear();
  sent_.withdraw(0, lost_);
  for (send_stream& each : to_peer_) each.clear();
}

}  // namespace nacre::transport::udp
