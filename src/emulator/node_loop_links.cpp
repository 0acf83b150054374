// SPDX-License-Identifier: Apache-2.0
// Packets on their way through routers, link by link, where links have contention.
//
// A packet asks for its first link when it leaves its node, and for each other one when its head has come over the
// link before, and has turned where the way turns. A link carries packets in the order in which they ask: at one time
// that of (source, number). It is busy for a packet's transfer; the head is at the other end a hop after the link has
// begun, the whole packet a transfer later. So a packet that nobody delays takes as long as it does without contention,
// and an event at one router causes events at another one no sooner than after a hop, which is the width of a window.
//
// On a grid, where nodes are routers, the node that a link leaves keeps its clock. Where switches join the nodes, links
// have owners among the nodes (switch_links), and a packet passes one switch less than links: the head is at the switch
// when the first link begins, and the last link, which belongs to the receiver, brings the packet to it.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "emulator/node_loop.hpp"
#include "emulator/stretch.hpp"
#include "emulator/sum_of_times.hpp"

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
  marked.detour = times_.is_grid() && times_.detours(current_node_.at(), partition_.at(way.destination));
  const bool turns_at_once = machine_.turns == turn_rule::once || !times_.is_grid();
  const virtual_time asks = time + (turns_at_once ? machine_.turn.count() : 0);
  const event head{asks, packet.source, packet.number, node_, 0, emulator::pass_router};
  carry(head, marked, packet, bytes, block_);
}

/// A packet asks for its next link.
void node_loop::pass_router(const event& e) {
  emulator::packet_way way = emulator::way_of(e);
  const coordinates target = partition_.at(way.destination);
  const event& packet = emulator::packet_in(e);
  const std::size_t bytes = lengths_.of(packet);
  virtual_time start = 0, turn = 0;
  bool is_last = false;
  coordinates next;  // the node that the next link belongs to
  event head = e;
  if (times_.is_grid()) {
    const machine::link_step link = times_.first_step(current_node_.at(), target, way);
    start = links_->carry(node_, link, e.time);
    is_last = link.target == target;
    way.axis = link.axis;
    next = link.target;
    const bool counts = machine_.turns == turn_rule::counted && !is_last;
    if (counts && times_.first_step(next, target, way).axis != link.axis) turn = machine_.turn.count();
  } else {
    const machine::switch_links links(machine_);
    const std::uint32_t source = e.source - emulator::first_source;
    const machine::switch_link link = links.link(source, way.destination, e.thread);
    start = links_->carry(link, e.time);
    is_last = link.is_last;
    next = partition_.at(links.link(source, way.destination, ++head.thread).owner);
  }
  const virtual_time hop = is_last && !times_.is_grid() ? 0 : machine_.hop.count();
  if (start != e.time) {
    ++counts_.link_waits;
    emulator::add_time(counts_.link_wait, std::chrono::nanoseconds(start - e.time));
  }
  if (is_last) {
    alignas(event) std::byte copy[sizeof(event) + packet_bytes_max];
    emulator::copy_event(copy, packet, bytes);
    event& arrives = *reinterpret_cast<event*>(copy);
    arrives.time = start + hop + times_.transfer();
    return forward(way.block, arrives, bytes);
  }
  const emulator::node_place place = partition_.place_of(next);
  head.time = start + hop + turn;
  head.node = place.node;
  carry(head, way, packet, bytes, place.block);
}

}  // namespace nacre::detail
