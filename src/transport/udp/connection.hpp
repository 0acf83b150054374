// SPDX-License-Identifier: Apache-2.0
// The reliable protocol between two ranks over datagrams that may be lost, doubled, reordered or forged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/message.hpp>

#include "transport/frame.hpp"
#include "transport/udp/congestion_window.hpp"
#include "transport/udp/datagram.hpp"
#include "transport/udp/datagram_key.hpp"
#include "transport/udp/receive_stream.hpp"
#include "transport/udp/received_numbers.hpp"
#include "transport/udp/send_stream.hpp"
#include "transport/udp/sent_datagrams.hpp"

namespace nacre::transport::udp {

/// The memory that a datagram takes in a receiver's socket, kernel's bookkeeping included, about.
[[nodiscard]] std::uint32_t buffer_bytes_of(std::size_t datagram_bytes) noexcept;

/// Messages that have arrived, by channel.
using messages_by_channel = std::array<message_list, channel_count>;

/// The fixed properties of a connection.
struct connection_limits {
  frame_limits frames;                     ///< those of the peer's messages; the channels are set by the connection
  std::uint32_t datagram_bytes = 0;        ///< the longest datagram, tag and head included
  std::uint32_t peer_buffer_bytes = 0;     ///< the receive buffer of the peer's socket
  std::uint64_t acknowledge_bytes = 4096;  ///< an acknowledgement leaves after so many bytes, or 8 datagrams
  std::uint64_t network_bytes_min = 0;     ///< the window of the network never falls below this
  std::uint64_t first_number = 0;          ///< of the datagrams to the peer
};

/// Where the bytes of the next datagram belong, if it continues the message of the one before.
struct landing {
  std::size_t head_bytes = 0;                ///< tag, head and ranges in front of them
  std::span<std::byte> place{};              ///< empty: unknown. The datagram may have bytes behind this place
  std::uint64_t offset = 0;                  ///< of the place in the stream
  channel stream_channel = channel::system;  ///< of the stream
};

/// A datagram that a socket has written to a landing.
struct landed_datagram {
  std::span<const std::byte> head;  ///< of landing::head_bytes, or fewer
  std::size_t written = 0;          ///< bytes at the front of landing::place
  std::span<const std::byte> tail;  ///< bytes behind the place
};

/// The outcome of an arrived datagram. Only `taken` changes the connection, and `failed` ends it.
enum class arrival : std::uint8_t {
  taken,
  no_datagram,  ///< too short, or its tag is wrong: a stranger has sent it, or the network has harmed it
  replayed,     ///< it has been here before
  failed        ///< the peer has proven the key and violates the protocol
};

/// One end of a connection: two windows of three streams each, without I/O and without a clock. One thread.
///
/// | event | then |
/// |---|---|
/// | `submit` | the messages wait in their channel's stream |
/// | `next_datagram` | the next bytes leave: lost ones before new ones, system before application before bulk |
/// | a datagram whose tag is wrong, or whose number has been here | nothing |
/// | a datagram with acknowledgements | bytes that arrived are released, bytes that are lost leave again |
/// | a datagram with bytes, or a ping | early bytes wait; an acknowledgement is due, at once or after ack_delay_max |
/// | an acknowledgement of a number that was never used, bytes beyond the window, a bad header | failed, for ever |
/// | `on_deadline` | see sent_datagrams |
///
/// Invariants, and why they hold:
/// - Each number is used for one datagram only: it has 64 bits and only grows, also for bytes that travel again. So
///   a tag authenticates one datagram, an acknowledgement names one, and a replay is told by its number.
/// - A byte is released here only after the peer has taken it: acknowledgements are authenticated, and a receiver
///   accepts a number only together with the bytes of its datagram.
/// - Messages of one channel arrive once and in order: the receiver's stream gives each offset to the assembler once,
///   in order, whatever datagrams bring it.
/// - Something is in flight, or can leave, as long as a byte is not acknowledged: a lost datagram puts its bytes back
///   into the stream, and the windows let at least one datagram leave when nothing is in flight.
class connection {
 public:
  connection(const connection_limits& limits, datagram_key outgoing, datagram_key incoming);

  /// Takes messages, all of one channel, off the front of `batch` until that channel holds `held_bytes_max`. After a
  /// failure, or after `leave`, drops all.
  void submit(message_list& batch, std::uint64_t held_bytes_max);
  /// Asks the peer for a sign of life, by a datagram of full length.
  void ping() noexcept { ping_ = true; }

  /// Whether next_datagram would return a datagram now. Costs some comparisons.
  [[nodiscard]] bool wants_to_send() const noexcept {
    return to_peer_[0].has_bytes() || to_peer_[1].has_bytes() || to_peer_[2].has_bytes() || ping_ || mark_ || probe_ ||
           ack_deadline_ == time_point::min();
  }
  /// Whether the peer's socket has room for an unreliable datagram of so many bytes. They get half of it, so that no
  /// flood of them makes it lose datagrams of this protocol.
  [[nodiscard]] bool has_room_for_unreliable(std::size_t bytes) const noexcept;
  /// An unreliable datagram leaves. From time to time a short ping follows; its acknowledgement tells that the peer
  /// has read all that left before.
  void note_unreliable(std::size_t bytes) noexcept;

  /// Writes the next datagram into `target`, which has room for limits.datagram_bytes, and returns its length. 0: there
  /// is none that may leave now.
  std::size_t next_datagram(std::span<std::byte> target, time_point now) { return next_datagram(target, now, nullptr); }
  /// Leaves long stretches of bytes where they are. Then it writes the head only and returns the head's length, and
  /// `apart` tells where the bytes lie until this connection is called next.
  std::size_t next_datagram(std::span<std::byte> target, time_point now, datagram_pieces* apart);
  /// The number that the next datagram gets.
  [[nodiscard]] std::uint64_t next_number() const noexcept { return sent_.next_number(); }
  /// The datagrams from this number on have not left: the network took no more.
  void withdraw(std::uint64_t first_number);

  /// A datagram has arrived. Appends the messages that it completes.
  [[nodiscard]] arrival on_datagram(std::span<const std::byte> bytes, time_point now, messages_by_channel& arrived);

  /// Where to write the next datagram, so that its bytes need not be copied again.
  [[nodiscard]] landing next_landing() noexcept;
  /// Whether the datagram claims to belong there; on_landed checks the claim. If not, join its parts and call
  /// on_datagram.
  [[nodiscard]] static bool fits(const landed_datagram& datagram, const landing& landing) noexcept;
  /// As on_datagram, for one that fits next_landing. Other bytes at that place do no harm.
  [[nodiscard]] arrival on_landed(const landed_datagram& datagram, const landing& landing, time_point now,
                                  messages_by_channel& arrived);

  /// The time at which `on_deadline` wants to be called, and then next_datagram.
  [[nodiscard]] time_point deadline() const noexcept;
  void on_deadline(time_point now);

  /// Whether some bytes have not been sent even once.
  [[nodiscard]] bool unsent() const noexcept;
  /// Whether the peer has acknowledged all bytes, and pings.
  [[nodiscard]] bool all_acknowledged() const noexcept;
  /// Whether the peer has not acknowledged all bytes that had left before the last call of this.
  [[nodiscard]] bool under_way() noexcept;
  /// Whether anything has arrived from the peer.
  [[nodiscard]] bool heard() const noexcept { return !received_.empty(); }
  /// Nothing more is sent, acknowledgements excepted; the messages are released.
  void leave() noexcept;
  /// The fault of the peer, after arrival::failed, such as "sent a message of an unknown kind".
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  [[nodiscard]] bool may_leave(channel channel, std::size_t bytes) noexcept;
  [[nodiscard]] std::size_t room_for_bytes(std::size_t ranges) const noexcept;
  [[nodiscard]] bool choose(datagram& next);
  void acknowledge_into(datagram& next, time_point now) noexcept;
  std::size_t write(const datagram& next, stretch taken, std::span<std::byte> target, datagram_pieces* apart);
  void note_sent(const datagram& datagram, stretch taken, std::size_t bytes, time_point now);
  template <class TakeBytes>
  arrival take(const datagram& datagram, std::size_t bytes, time_point now, TakeBytes take_bytes);
  [[nodiscard]] bool accept_bytes(std::optional<frame_error> error);
  [[nodiscard]] bool take_acknowledgement(const datagram& datagram, time_point now);
  [[nodiscard]] bool take_bytes(const datagram& datagram, messages_by_channel& arrived);
  void note_received(const datagram& datagram, std::size_t bytes, bool in_sequence, time_point now) noexcept;
  void return_to_streams(std::span<const sent_datagram> sent_datagrams);
  arrival fail(std::string_view reason);

  connection_limits limits_;
  datagram_key outgoing_;
  datagram_key incoming_;
  std::array<send_stream, channel_count> to_peer_;
  std::array<receive_stream, channel_count> from_peer_;
  sent_datagrams sent_;
  received_numbers received_;
  congestion_window window_;
  std::array<std::uint64_t, channel_count> left_before_{};  // bytes that had left at the last call of under_way
  std::vector<sent_datagram> arrived_;                      // scratch
  std::vector<sent_datagram> lost_;                         // scratch
  std::uint32_t unacknowledged_ = 0;                        // datagrams received since the last acknowledgement
  std::uint64_t unacknowledged_bytes_ = 0;                  // in these
  time_point newest_at_{};                                  // when the newest one came
  time_point ack_deadline_ = never;
  std::size_t ranges_before_ = 0;        // of the last datagram with bytes
  channel on_before_ = channel::system;  // its channel
  std::uint64_t confirmed_ = 0;          // for all numbers below this one, the peer knows whether they arrived
  channel turn_ = channel::application;  // of the channels other than system, the one that may send first
  bool window_blocks_ = false;           // the window of the network keeps bytes from leaving
  std::uint64_t unreliable_sent_ = 0;    // what all unreliable datagrams take in the peer's socket
  std::uint64_t unreliable_marked_ = 0;  // of these, the ones that a reliable datagram has followed
  std::uint64_t unreliable_read_ = 0;    // those that the peer has read
  bool ping_ = false;
  bool mark_ = false;   // a short ping is to leave
  bool probe_ = false;  // the next datagram may leave whatever the windows say
  bool left_ = false;
  bool failed_ = false;
  std::string reason_;
};

}  // namespace nacre::transport::udp
