// SPDX-License-Identifier: Apache-2.0
// The datagrams that wait for their acknowledgement: tells which have arrived, which are lost, and when to ask again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/udp/datagram.hpp"
#include "transport/udp/round_trip.hpp"

namespace nacre::transport::udp {

using time_point = std::chrono::steady_clock::time_point;
inline constexpr time_point never = time_point::max();

/// A datagram that was sent and asks for an acknowledgement.
struct sent_datagram {
  time_point time{};
  std::uint64_t offset = 0;        ///< of its bytes in the stream
  std::uint32_t stream_bytes = 0;  ///< 0: a ping
  std::uint32_t bytes = 0;         ///< in all
  std::uint32_t buffer_bytes = 0;  ///< what it takes in the receiver's socket
  channel stream_channel = channel::system;
  std::uint64_t ack_end = 0;            ///< it acknowledges numbers below
  std::uint64_t unreliable_before = 0;  ///< what all earlier unreliable datagrams take in that socket
  bool in_flight = false;
};

/// Loss detection as in RFC 9002: a datagram is lost when one at least three numbers later has been acknowledged, or
/// when any later one has and enough time has passed. When nothing is acknowledged for long, the oldest one counts as
/// lost, so that it is sent again and its acknowledgement shows what has become of the others. The waiting time doubles
/// each time, up to retry_max, until the peer answers.
///
/// Invariant: each number is in flight at most once, and leaves the flight once: acknowledged, lost, or withdrawn.
class sent_datagrams {
 public:
  /// The longest time between two attempts to reach a silent peer.
  static constexpr std::chrono::milliseconds retry_max{500};

  explicit sent_datagrams(std::uint64_t first_number = 0) : base_(first_number) {}

  /// The number of the next datagram.
  [[nodiscard]] std::uint64_t next_number() const noexcept { return base_ + all_.size(); }
  /// A datagram with next_number() leaves. One that asks for no acknowledgement only uses up the number.
  void add(const sent_datagram& datagram);
  /// The datagrams from this number on did not leave. Appends those that were in flight to `back`.
  void withdraw(std::uint64_t first, std::vector<sent_datagram>& back);

  /// The peer acknowledges numbers, all below next_number(). Appends those that have arrived, and those that are lost.
  void on_acknowledgement(std::span<const number_range> received, std::chrono::nanoseconds ack_delay, time_point now,
                          std::vector<sent_datagram>& arrived, std::vector<sent_datagram>& lost);
  /// The time of `deadline()` has come. Appends the datagrams that are lost. Returns true when the peer is silent: the
  /// caller then sends one of those that are lost, whatever the windows say.
  [[nodiscard]] bool on_deadline(time_point now, std::vector<sent_datagram>& lost);
  [[nodiscard]] time_point deadline() const noexcept;

  [[nodiscard]] std::uint64_t bytes_in_flight() const noexcept { return bytes_in_flight_; }
  [[nodiscard]] std::uint64_t buffer_bytes_in_flight() const noexcept { return buffer_bytes_in_flight_; }
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }
  /// How often in a row the peer was silent.
  [[nodiscard]] std::uint32_t silences() const noexcept { return silences_; }

 private:
  void leave(sent_datagram& datagram) noexcept;
  void detect_losses(time_point now, std::vector<sent_datagram>& lost);
  void forget_old() noexcept;
  void note_round_trip(const sent_datagram& newest, std::chrono::nanoseconds ack_delay, time_point now) noexcept;

  std::uint64_t base_;             // number of the first one in all_
  std::deque<sent_datagram> all_;  // from the oldest one in flight on
  std::uint64_t acknowledged_end_ = 0;
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t buffer_bytes_in_flight_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t silences_ = 0;
  time_point last_sent_{};  // of those that ask for an acknowledgement
  time_point loss_deadline_ = never;
  round_trip round_trip_;
};

}  // namespace nacre::transport::udp
