// SPDX-License-Identifier: Apache-2.0
// What no software can go below: the same exchanges by hand, with nothing of Nacre.
#pragma once

#include <cstddef>

#include "figures.hpp"

namespace ladder {

/// Two lines of the cache that two threads hand to each other: the floor of any exchange between cores. 8 bytes only.
[[nodiscard]] sample cache_lines();

/// A ring of slots in memory that two processes share for each direction, whose stamps tell that they are full; both
/// sides poll, and copy the bytes in and out: the floor of shm. Long messages go in pieces of 16 KiB.
[[nodiscard]] sample shared_ring(std::size_t bytes);

/// The receiver reads the sender's memory by process_vm_readv, and is told where by such a ring: the floor of long
/// messages over shm. All zero where the kernel does not permit it.
[[nodiscard]] sample single_copy(std::size_t bytes);

/// Two processes at the ends of a loopback connection; both poll: the floor of tcp.
[[nodiscard]] sample raw_socket(std::size_t bytes);

/// How raw datagrams travel.
struct datagram_way {
  std::size_t longest = 65507;  ///< bytes of a datagram
  bool joined = false;          ///< many in one system call: UDP_SEGMENT and UDP_GRO
};

/// One datagram in a packet of `mtu` bytes with the headers of IPv4 and UDP; 0: the longest that there is.
[[nodiscard]] constexpr datagram_way way_of_mtu(std::size_t mtu) {
  return mtu == 0 ? datagram_way{} : datagram_way{mtu - 28};
}

/// Two processes with connected UDP sockets on the loopback interface; both poll: the floor of udp. Long messages go in
/// datagrams of that length; credits of the receiver keep the sender from overrunning its buffer. All zero where the
/// kernel cannot join datagrams.
[[nodiscard]] sample raw_datagrams(std::size_t bytes, datagram_way way);

}  // namespace ladder
