// SPDX-License-Identifier: Apache-2.0
// An event of an emulation: one message to one thread of a node, as it lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "machine/packet_way.hpp"

namespace nacre::emulator {

using machine::virtual_time;
inline constexpr virtual_time no_time = std::numeric_limits<virtual_time>::max();

/// The handlers of the emulator itself have the first numbers.
enum reserved_handler : std::uint16_t { wake_thread, resume_stretch, depart_packet, pass_router, first_of_program };

/// The values of event::source that stand before those of the nodes.
enum reserved_source : std::uint32_t { source_departure, source_wake, first_source };

/// Precedes the packet in an event by which a node passes a packet to its port or to the next link.
using machine::packet_way;

/// The head of an event; the payload follows in whole words. The order of events of one node is (time, source, number),
/// which depends on no schedule: `source` is a reserved one for the node's own purposes, else first_source plus the
/// number of the sending node in the whole grid; `number` counts the events that this node has sent.
struct event {
  virtual_time time;
  std::uint32_t source;
  std::uint32_t number;
  std::uint32_t node;    ///< number within the block of the receiving node
  std::uint16_t thread;  ///< of pass_router on a machine with switches: the links that the packet has passed
  std::uint16_t handler;

  [[nodiscard]] const std::byte* payload() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
  [[nodiscard]] std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(event) == 24);

/// Whether `a` comes before `b` at one node. Numbers wrap around; two events of one source at one time are never 2^31
/// numbers apart.
[[nodiscard]] inline bool earlier(const event& a, const event& b) noexcept {
  if (a.time != b.time) return a.time < b.time;
  if (a.source != b.source) return a.source < b.source;
  return static_cast<std::int32_t>(a.number - b.number) < 0;
}

/// Copies a whole event. Its length is a multiple of 8 bytes.
inline void copy_event(std::byte* target, const event& event, std::size_t bytes) noexcept {
  auto* destination = reinterpret_cast<std::uint64_t*>(target);
  const auto* data = reinterpret_cast<const std::uint64_t*>(&event);
  for (std::size_t k = 0; k < bytes / 8; ++k) destination[k] = data[k];
}

}  // namespace nacre::emulator
