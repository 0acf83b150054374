// SPDX-License-Identifier: Apache-2.0
// Places hosts around missing nodes, and lets messages over links.
#include "machine/host_links.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <nacre/error.hpp>

namespace nacre::machine {

host_links::host_links(const emulated_machine& machine, std::uint32_t hosts)
    : times_(machine),
      switches_(machine),
      hop_ns_(machine.hop.count()),
      turn_ns_(machine.turns == turn_rule::counted && times_.is_grid() ? machine.turn.count() : 0) {
  if (machine.missing.empty()) return;
  place_hosts(machine, hosts);
  if (times_.is_grid()) expect_ways(hosts);
}

void host_links::place_hosts(const emulated_machine& machine, std::uint32_t hosts) {
  const auto count = static_cast<std::uint32_t>(machine.nodes());
  nodes_.reserve(hosts);
  for (std::uint32_t number = 0; number < count && nodes_.size() < hosts; ++number) {
    if (times_.exists(times_.place_of(number))) nodes_.push_back(number);
  }
  if (nodes_.size() == hosts) return;
  throw setup_error(
      {"the machine has " + std::to_string(nodes_.size()) + " nodes for " + std::to_string(hosts) + " hosts: of " +
           std::to_string(count) + " some are missing",
       "every host needs a node that exists",
       "use fewer ranks, let fewer nodes be missing, or put several ranks on a host (sim.ranks_per_host)"});
}

/// Looks from the first host at all nodes that it reaches.
void host_links::expect_ways(std::uint32_t hosts) const {
  std::vector<bool> reached(nodes_[hosts - 1] + std::size_t{1});
  const auto mark = [&](std::uint32_t number) {
    if (number >= reached.size()) reached.resize(number + std::size_t{1});
    const bool is_new = !reached[number];
    reached[number] = true;
    return is_new;
  };
  std::vector<std::uint32_t> open{nodes_[0]};
  mark(nodes_[0]);
  while (!open.empty()) {
    const coordinates place = times_.place_of(open.back());
    open.pop_back();
    times_.for_each_neighbour(place, [&](const coordinates& next, std::size_t, std::int32_t) {
      if (mark(times_.number_of(next))) open.push_back(times_.number_of(next));
    });
  }
  const auto lost = std::find_if(nodes_.begin(), nodes_.end(), [&](std::uint32_t node) { return !reached[node]; });
  if (lost == nodes_.end()) return;
  const coordinates place = times_.place_of(*lost);
  throw setup_error({"missing nodes leave no way to node " + std::to_string(place.x) + "," + std::to_string(place.y) +
                         "," + std::to_string(place.z),
                     "a host lives there", "name it among the missing nodes, too"});
}

route host_links::route_of(std::uint32_t source, std::uint32_t target) const {
  return times_.route_of(times_.place_of(node_of(source)), times_.place_of(node_of(target)));
}

message_way host_links::first_of(std::uint32_t source, std::uint32_t target) const {
  if (!times_.is_grid()) return {};
  const std::uint32_t start = node_of(source);
  return {.position = start, .detour = times_.detours(times_.place_of(start), times_.place_of(node_of(target)))};
}

host_links::crossing host_links::cross(const ends& hosts, message_way& way, virtual_time now_ns,
                                       std::int64_t passage_ps) {
  constexpr std::int64_t ps_per_ns = 1000;
  crossing result;
  std::uint64_t id = 0;
  virtual_time after_ns = hop_ns_;
  if (times_.is_grid()) {
    const coordinates target = times_.place_of(node_of(hosts.target));
    packet_way passed{.axis = way.axis, .detour = way.detour};
    const link_step step = times_.first_step(times_.place_of(way.position), target, passed);
    id = std::uint64_t{way.position} * 6 + 2U * step.axis + (step.up ? 1U : 0U);
    result.is_last = step.target == target;
    passed.axis = step.axis;
    const bool counts = turn_ns_ != 0 && !result.is_last;
    if (counts && times_.first_step(step.target, target, passed).axis != step.axis) after_ns += turn_ns_;
    way.axis = step.axis;
    way.position = times_.number_of(step.target);
  } else {
    const switch_link next = switches_.link(node_of(hosts.source), node_of(hosts.target), way.position);
    id = next.id;
    result.is_last = next.is_last;
    if (next.is_last) after_ns = 0;  // a message passes one switch less than links
    ++way.position;
  }
  link& taken = links_[id];
  const std::int64_t start_ps = std::max(now_ns * ps_per_ns, taken.free_ps);
  taken.free_ps = start_ps + passage_ps;
  taken.begun_ns = std::max((start_ps + ps_per_ns - 1) / ps_per_ns, taken.begun_ns + 1);
  result.begins_ns = taken.begun_ns;
  result.head_ns = taken.begun_ns + after_ns;
  return result;
}

}  // namespace nacre::machine
