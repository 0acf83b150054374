// SPDX-License-Identifier: Apache-2.0
// The line broadcast and the line reduction of the emulator paper, section 5.2.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "line_tree.hpp"
#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

/// Where no node is missing the root is the corner.
bool is_root(const emulated_node& node) { return node.at() == line_tree(node).root(); }

template <class Visit>
void for_each_successor(const emulated_node& node, Visit visit) {
  line_tree(node).for_each_successor(node.at(), visit);
}

void spread(emulated_node& node) {
  for_each_successor(node, [&](const coordinates& target) { node.send<spread>(target); });
}

struct reduction {
  std::int64_t most = 0;
  std::uint32_t heard = 0;
};

/// A number of its own for each node; the largest is at no special place.
std::int64_t value_of(const coordinates& place, const coordinates& grid) {
  const std::int64_t number = place.x + std::int64_t{grid.x} * (place.y + std::int64_t{grid.y} * place.z);
  return (number * 2'654'435'761) % 4'294'967'291;
}

void contribute(emulated_node& node, std::int64_t value) {
  reduction& all = node.state<reduction>();
  std::uint32_t successors = 0;
  for_each_successor(node, [&](const coordinates&) { ++successors; });
  all.most = std::max({all.most, value, value_of(node.at(), node.machine().grid)});
  if (++all.heard < successors) return;
  if (!is_root(node)) node.send<contribute>(line_tree(node).predecessor(node.at()), all.most);
}

}  // namespace

program_result run_line(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                        const nacre::emulation_options& options) {
  const auto run = nacre::emulate(
      rt, machine,
      [](emulated_node& node) {
        if (is_root(node)) node.add_task<spread>();
      },
      options);
  program_result result{run};
  if (run.counts().events != machine.nodes_present())
    result.error = fmt::format("{} nodes heard it", run.counts().events);
  return result;
}

program_result run_reduce(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                          const nacre::emulation_options& options) {
  const auto start = [](emulated_node& node) {
    bool last = true;
    for_each_successor(node, [&](const coordinates&) { last = false; });
    if (last) node.add_task<contribute>(std::int64_t{0});
  };
  program_result result{nacre::emulate(rt, machine, start, options)};
  const std::uint64_t expected = machine.nodes_present() - 1;
  if (result.run.messages() != expected) result.error = fmt::format("{} messages", result.run.messages());
  return result;
}

}  // namespace emulate
