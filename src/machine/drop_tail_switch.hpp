// SPDX-License-Identifier: Apache-2.0
// The output ports of a switch with short buffers: packets that do not fit are dropped.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace nacre::machine {

/// The unit of the buffers of a switch.
enum class buffer_unit : std::uint8_t {
  bytes,
  packets,
  cells  ///< a packet takes whole ones
};
enum class buffer_sharing : std::uint8_t { per_port, shared };

struct switch_options {
  std::uint32_t ports = 2;
  double bytes_per_second = 125e6;  ///< of each port
  std::uint64_t buffer = 32768;     ///< in units, of each port, or of all ports together when shared
  buffer_unit unit = buffer_unit::bytes;
  std::uint64_t cell_bytes = 32;
  buffer_sharing sharing = buffer_sharing::per_port;
};

/// Output ports with drop-tail queues, as pure bookkeeping: it takes times and returns times. A port sends one packet
/// after the other. A packet occupies buffer from the arrival of its last byte until that byte has left, so the packet
/// that is being sent counts, too. A packet for which there is no room is dropped whole; those behind it may fit.
/// Times are whole nanoseconds, rounded up; ports count in picoseconds, so that rounding does not add up.
/// Single-threaded. No chance: equal calls have equal results.
class drop_tail_switch {
 public:
  explicit drop_tail_switch(const switch_options& options);

  /// The last byte of a packet for `port` has reached the switch. Returns when its last byte has left it; nothing when
  /// the packet is dropped. Callers make the calls in the order of their times.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> arrive(std::uint32_t port, std::uint64_t bytes,
                                                               std::chrono::nanoseconds now);
  /// The units of buffer that packets for `port` occupy, or packets for any port when they share.
  [[nodiscard]] std::uint64_t occupied(std::uint32_t port, std::chrono::nanoseconds now);
  /// The packets for `port` that have been dropped so far.
  [[nodiscard]] std::uint64_t dropped(std::uint32_t port) const noexcept { return ports_[port].dropped; }
  /// The units that a packet takes of a buffer.
  [[nodiscard]] std::uint64_t units(std::uint64_t bytes) const noexcept;

 private:
  struct waiting_packet {
    std::int64_t leaves_ns;
    std::uint64_t units;
    friend bool operator>(const waiting_packet& a, const waiting_packet& b) noexcept {
      return a.leaves_ns > b.leaves_ns;
    }
  };
  /// The packets of one buffer, the first to leave on top.
  struct buffer {
    std::priority_queue<waiting_packet, std::vector<waiting_packet>, std::greater<>> packets;
    std::uint64_t units = 0;
  };
  struct output_port {
    std::int64_t free_ps = 0;
    std::uint64_t dropped = 0;
  };

  [[nodiscard]] buffer& buffer_of(std::uint32_t port) noexcept {
    return buffers_[options_.sharing == buffer_sharing::shared ? 0 : port];
  }

  switch_options options_;
  std::vector<output_port> ports_;
  std::vector<buffer> buffers_;
  std::int64_t present_ns_ = 0;
};

}  // namespace nacre::machine
