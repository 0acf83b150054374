// SPDX-License-Identifier: Apache-2.0
// The places of a simulated machine's hosts among its nodes, the ways between them, and links that are busy.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include "machine/packet_way.hpp"
#include "machine/switch_links.hpp"
#include "machine/travel_times.hpp"

namespace nacre::machine {

/// Where the head of a message is among the links.
struct message_way {
  std::uint32_t position = 0;  ///< on a grid the number of the node; else how many links it has passed
  std::uint8_t axis = packet_way::no_axis;
  bool detour = false;
};

/// Hosts fill the nodes of a machine in the order of their numbers, and pass by those that are missing. The emulator's
/// packets take the same ways (travel_times, switch_links), and links carry messages as they carry packets there: one
/// at a time, in the order in which their heads ask. A message is one packet of its length. Single-threaded.
class host_links {
 public:
  /// Throws setup_error where the machine has too few nodes for the hosts, or missing ones leave no way between two.
  host_links(const emulated_machine& machine, std::uint32_t hosts);

  /// The hops and turns from host to host.
  [[nodiscard]] route route_of(std::uint32_t source, std::uint32_t target) const;
  /// The number of the node at which a host is.
  [[nodiscard]] std::uint32_t node_of(std::uint32_t host) const noexcept {
    return nodes_.empty() ? host : nodes_[host];
  }

  [[nodiscard]] message_way first_of(std::uint32_t source, std::uint32_t target) const;
  /// A message whose head asks for its next link at `now_ns`. Calls are in the order of time.
  struct crossing {
    virtual_time begins_ns = 0;  ///< when the link begins to carry it
    virtual_time head_ns = 0;    ///< when the head asks for the next link, or is at the port of the receiver
    bool is_last = false;
  };
  struct ends {
    std::uint32_t source = 0, target = 0;  ///< hosts
  };
  /// `passage_ps` is for how long the message occupies a link.
  [[nodiscard]] crossing cross(const ends& hosts, message_way& way, virtual_time now_ns, std::int64_t passage_ps);

 private:
  struct link {
    std::int64_t free_ps = 0;
    virtual_time begun_ns = -1;  // by the last message; no two begin in one nanosecond, so that they keep their order
  };

  void place_hosts(const emulated_machine& machine, std::uint32_t hosts);
  void expect_ways(std::uint32_t hosts) const;

  travel_times times_;
  switch_links switches_;
  virtual_time hop_ns_, turn_ns_;     // a turn that is counted on the way
  std::vector<std::uint32_t> nodes_;  // of the hosts, where nodes are missing
  std::unordered_map<std::uint64_t, link> links_;
};

}  // namespace nacre::machine
