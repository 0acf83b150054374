// SPDX-License-Identifier: Apache-2.0
// A port of an ATM switch: cells of several circuits, and which of them it drops when its buffer is short.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/drop_tail_switch.hpp"

namespace nacre::machine {

inline constexpr std::uint64_t atm_cell_bytes = 53;
inline constexpr std::uint64_t atm_payload_bytes = 48;

/// The cells of a message as an AAL5 packet, which ends with a trailer of 8 bytes.
[[nodiscard]] constexpr std::uint64_t aal5_cells(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t trailer_bytes = 8;
  return (bytes + trailer_bytes + atm_payload_bytes - 1) / atm_payload_bytes;
}

/// A cell of an AAL5 packet. Packets of one circuit follow each other and do not mix. A switch sees the end of a packet
/// in its last cell's header.
struct atm_cell {
  std::uint32_t circuit = 0;
  std::uint64_t packet = 0;  ///< number within the circuit
  std::uint64_t place = 0;   ///< within the packet, from 0
  std::uint64_t length = 1;  ///< cells of the packet
  [[nodiscard]] bool is_first() const noexcept { return place == 0; }
  [[nodiscard]] bool is_last() const noexcept { return place + 1 == length; }
};

/// Which cells a port drops. `partial` and `early` are those of Romanow and Floyd, Dynamics of TCP Traffic over ATM
/// Networks, 1995; `rest` is called early packet discard in the DVCM paper.
enum class cell_discard : std::uint8_t {
  tail,     ///< cells for which the buffer has no room
  rest,     ///< also those that follow in a packet which has lost one
  partial,  ///< as `rest`, but not the last cell of the packet, which separates it from the next
  early     ///< as `partial`, and all cells of a packet that begins while the queue is at the threshold or longer
};

struct cell_port_options {
  double bytes_per_second = 18.72e6;  ///< of the link, headers of cells included
  std::uint64_t buffer_cells = 256;
  std::uint32_t circuits = 1;
  cell_discard discard = cell_discard::tail;
  std::uint64_t threshold_cells = 128;  ///< of `early`
};

/// The buffer of one port, as pure bookkeeping, with the state of each circuit:
///
/// | the packet of a circuit is | since | its further cells |
/// |---|---|---|
/// | whole | its first cell | are dropped where there is no room |
/// | damaged | one was dropped; not under `tail` | are dropped, the last one only under `rest` or without room |
/// | refused | its first cell found the threshold reached; `early` only | are dropped |
///
/// With N circuits, packets of n cells and a buffer of at least threshold + N (n - 1) cells, `early` damages no packet:
/// above the threshold none begins, and each circuit has at most one that has begun.
class cell_port {
 public:
  explicit cell_port(const cell_port_options& options);

  /// The last bit of a cell has reached the switch. Returns when its last bit leaves; nothing for one that is dropped.
  /// Callers make the calls in the order of their times.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> arrive(const atm_cell& cell, std::chrono::nanoseconds now);
  [[nodiscard]] std::uint64_t occupied_cells(std::chrono::nanoseconds now) { return queue_.occupied(0, now); }
  /// Cells that have been dropped, for whatever reason.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return queue_.dropped(0) + discarded_; }

 private:
  enum class packet_state : std::uint8_t { whole, damaged, refused };

  [[nodiscard]] bool is_discarded(const atm_cell& cell, std::chrono::nanoseconds now);

  cell_discard discard_;
  std::uint64_t threshold_cells_;
  drop_tail_switch queue_;
  std::vector<packet_state> circuits_;
  std::uint64_t discarded_ = 0;  // although there was room
};

/// The receiving end of a circuit: which packets come out whole. Where the last cell of a packet is lost, the next
/// packet is taken for the rest of it, and both fail the check of AAL5.
class packet_assembly {
 public:
  /// The next cell that has come through. Returns true for the last cell of a packet that is whole.
  [[nodiscard]] bool arrive(const atm_cell& cell) noexcept;

 private:
  std::uint64_t cells_ = 0;   // since the last end of a packet
  std::uint64_t packet_ = 0;  // that the first of them is of
};

}  // namespace nacre::machine
