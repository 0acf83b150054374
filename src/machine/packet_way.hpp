// SPDX-License-Identifier: Apache-2.0
// The ways of packets from node to node of a machine, as the simulator and the emulator count them.
#pragma once

#include <array>
#include <cstdint>

#include <nacre/emulated_machine.hpp>

namespace nacre::machine {

/// The members of a place by the numbers of their axes.
inline constexpr std::array<std::int32_t coordinates::*, 3> axes{&coordinates::x, &coordinates::y, &coordinates::z};

/// Virtual time in nanoseconds.
using virtual_time = std::int64_t;

/// The length of a packet's way.
struct route {
  std::uint32_t hops = 0;
  std::uint32_t turns = 0;
};

/// A link from a node to its neighbour along one axis.
struct link_step {
  std::uint8_t axis = 0;
  bool up = false;  ///< towards higher numbers
  coordinates target;
};

/// How a packet has come to where it is, and where it goes.
struct packet_way {
  static constexpr std::uint8_t no_axis = 3;
  std::uint32_t destination = 0;  ///< number of the receiving node in the whole grid; only where links have contention
  std::uint16_t block = 0;        ///< of the receiving node, in the emulator
  std::uint8_t axis = no_axis;    ///< of the link over which the packet has come
  bool detour = false;            ///< around missing nodes
};
static_assert(sizeof(packet_way) == 8);

}  // namespace nacre::machine
