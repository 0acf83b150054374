// SPDX-License-Identifier: Apache-2.0
// Packets on their way through routers, link by link, where links have contention.
//
// A packet asks for its first link when it leaves its node, and for each other one when its head has come over the
// link before, and has turned where the way turns. A link carries packets in the order in which they ask: at one time
// that of (source, number). It is busy for a packet's transfer; the head is at the other end a hop after the link has
// begun, the whole packet a transfer later. So a packet that nobody delays takes as long as it does without contention,
// and an event at one router causes events at another one no sooner than after a hop, which is the width of a window.
#include <cstring>
#include <new>

#include "emulator/node_loop.hpp"
#include "emulator/stretch.hpp"

namespace nacre::detail {

using emulator::virtual_time;

/// Makes an event of this node that carries a packet of so many bytes.
void node_loop::carry(const event& head, const emulator::packet_way& way, const event& packet, std::size_t bytes,
                      std::uint32_t block) {
  alignas(event) std::byte room[emulator::event_bytes_max];
  event& e = *::new (static_cast<void*>(room)) event(head);
  std::memcpy(e.payload(), &way, sizeof(way));
  emulator::copy_event(e.payload() + sizeof(way), packet, bytes);
  forward(block, e, emulator::carrier_bytes + bytes);
}

/// The packet has left the node's port, or its handler where there is none, at `time`.
void node_loop::enter_network(const emulator::packet_way& way, const event& packet, std::size_t bytes,
                              virtual_time time) {
  emulator::packet_way marked = way;
  marked.detour = times_.detours(here_.at(), partition_.at(way.destination));
  const virtual_time asks = time + (machine_.turns == turn_rule::once ? machine_.turn.count() : 0);
  const event head{asks, packet.source, packet.number, node_, emulated::placement::any_worker, emulator::pass_router};
  carry(head, marked, packet, bytes, block_);
}

/// A packet asks for its next link.
void node_loop::pass_router(const event& e) {
  emulator::packet_way way = emulator::way_of(e);
  const coordinates to = partition_.at(way.destination);
  const emulator::link_step link = times_.first_step(here_.at(), to, way);
  const virtual_time start = links_->carry(node_, link, e.time);
  if (start != e.time) {
    ++counts_.link_waits;
    counts_.link_wait += std::chrono::nanoseconds(start - e.time);
  }
  const virtual_time head_arrives = start + machine_.hop.count();
  const event& packet = emulator::packet_in(e);
  const std::size_t bytes = lengths_.of(packet);
  if (link.to == to) {
    alignas(event) std::byte copy[sizeof(event) + packet_bytes_max];
    emulator::copy_event(copy, packet, bytes);
    event& arrives = *reinterpret_cast<event*>(copy);
    arrives.time = head_arrives + times_.transfer();
    return forward(way.block, arrives, bytes);
  }
  way.axis = link.axis;
  const bool turns = machine_.turns == turn_rule::counted && times_.first_step(link.to, to, way).axis != link.axis;
  const emulator::node_place next = partition_.place_of(link.to);
  event head = e;
  head.time = head_arrives + (turns ? machine_.turn.count() : 0);
  head.node = next.node;
  carry(head, way, packet, bytes, next.block);
}

}  // namespace nacre::detail
