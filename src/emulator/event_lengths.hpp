// SPDX-License-Identifier: Apache-2.0
// The lengths of events, which only their handlers know, and packets within events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/emulator/handler.hpp>
#include "emulator/event.hpp"

namespace nacre::emulator {

/// The bytes before a packet that an event carries: the event's head and the packet's way.
inline constexpr std::size_t carrier_bytes = sizeof(event) + sizeof(packet_way);
/// Room for any event.
inline constexpr std::size_t event_bytes_max = carrier_bytes + sizeof(event) + packet_bytes_max;

[[nodiscard]] inline bool carries_packet(const event& e) noexcept {
  static_assert(pass_router == depart_packet + 1);
  return static_cast<std::uint16_t>(e.handler - depart_packet) <= 1;
}
/// The packet that an event carries.
[[nodiscard]] inline const event& packet_in(const event& carrier) noexcept {
  return *reinterpret_cast<const event*>(carrier.payload() + sizeof(packet_way));
}
[[nodiscard]] inline packet_way way_of(const event& carrier) noexcept {
  packet_way way;
  std::memcpy(&way, carrier.payload(), sizeof(way));
  return way;
}

class event_lengths {
 public:
  explicit event_lengths(std::span<const detail::emulated_handler* const> handlers) {
    for (const auto* row : handlers) payloads_.push_back(static_cast<std::uint16_t>(8 * row->payload_words));
  }
  /// The bytes of a whole event.
  [[nodiscard]] std::size_t of(const event& e) const noexcept {
    if (!carries_packet(e)) [[likely]]
      return sizeof(event) + payloads_[e.handler];
    return carrier_bytes + sizeof(event) + payloads_[packet_in(e).handler];
  }
  /// The length of the event at the beginning of some bytes, which may be any; 0 when they are none of a block of so
  /// many nodes, in a machine of so many blocks and nodes.
  struct bounds {
    std::size_t nodes_of_block = 0, blocks = 0, nodes = 0;
  };
  [[nodiscard]] std::size_t checked(std::span<const std::byte> source, const bounds& bounds) const noexcept {
    if (source.size() < sizeof(event)) return 0;
    const event& head = *reinterpret_cast<const event*>(source.data());
    if (head.handler >= payloads_.size() || head.node >= bounds.nodes_of_block) return 0;
    if (carries_packet(head)) {
      if (source.size() < carrier_bytes + sizeof(event)) return 0;
      const std::uint16_t handler = packet_in(head).handler;
      const packet_way way = way_of(head);
      // Only a node of the grid has sent a packet that is at a router.
      const bool sent = head.handler != pass_router || head.source - first_source < bounds.nodes;
      const bool known =
          sent && way.block < bounds.blocks && way.destination < bounds.nodes && way.axis <= packet_way::no_axis;
      if (!known || handler < first_of_program || handler >= payloads_.size()) return 0;
    }
    const std::size_t bytes = of(head);
    return bytes <= source.size() ? bytes : 0;
  }

 private:
  std::vector<std::uint16_t> payloads_;  ///< bytes, by handler
};

}  // namespace nacre::emulator
