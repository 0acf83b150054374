// SPDX-License-Identifier: Apache-2.0
// Numbers links so that both ends of a way compute the same.
#include "machine/switch_links.hpp"

#include <algorithm>

#include "machine/dragonfly.hpp"

namespace nacre::machine {
namespace {

/// Ids of links by kinds that do not meet. Numbers of nodes and routers have 31 bits, and levels 5.
enum class link_kind : std::uint64_t { up, down, between_routers };

std::uint64_t id_of(link_kind kind, std::uint64_t high, std::uint64_t low) noexcept {
  return static_cast<std::uint64_t>(kind) << 62 | high << 31 | low;
}

}  // namespace

switch_link switch_links::tree_link(std::uint32_t source, std::uint32_t target, std::uint32_t number) const noexcept {
  std::uint32_t levels = 0;
  std::uint64_t part = 1;  // nodes under a switch of level `number`
  for (std::uint32_t a = source, b = target; a != b; ++levels) {
    a /= ports_;
    b /= ports_;
    if (levels < number) part *= ports_;
  }
  if (number < levels) {
    const std::uint64_t first = source / part * part;
    const std::uint64_t links = std::min(part, nodes_ - first);
    const auto owner = static_cast<std::uint32_t>(first + target % links);
    return {id_of(link_kind::up, number, owner), owner, false};
  }
  const std::uint32_t above = 2 * levels - 1 - std::min(number, 2 * levels - 1);
  return {id_of(link_kind::down, above, target), target, above == 0};
}

switch_link switch_links::dragonfly_link(std::uint32_t source, std::uint32_t target,
                                         std::uint32_t number) const noexcept {
  const machine::dragonfly_way way = machine::dragonfly(ports_).way(source, target);
  if (number == 0) return {id_of(link_kind::up, 0, source), source, false};
  if (number >= way.count) return {id_of(link_kind::down, 0, target), target, true};
  const std::uint64_t router = way.routers[number - 1], next = way.routers[number];
  // A node of the router, another one for each of its next links; any node for a router without nodes.
  const auto owner = static_cast<std::uint32_t>((router * ports_ + next % ports_) % nodes_);
  return {id_of(link_kind::between_routers, router, next), owner, false};
}

}  // namespace nacre::machine
