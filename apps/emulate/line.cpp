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
bool is_root(const emulated_node& here) { return here.at() == line_tree(here).root(); }

template <class Visit>
void for_each_successor(const emulated_node& here, Visit visit) {
  line_tree(here).for_each_successor(here.at(), visit);
}

void spread(emulated_node& here) {
  for_each_successor(here, [&](const coordinates& to) { here.send<spread>(to); });
}

struct reduction {
  std::int64_t most = 0;
  std::uint32_t heard = 0;
};

/// A number of its own for each node; the largest is at no special place.
std::int64_t value_of(const coordinates& at, const coordinates& grid) {
  const std::int64_t number = at.x + std::int64_t{grid.x} * (at.y + std::int64_t{grid.y} * at.z);
  return (number * 2'654'435'761) % 4'294'967'291;
}

void contribute(emulated_node& here, std::int64_t value) {
  reduction& all = here.state<reduction>();
  std::uint32_t successors = 0;
  for_each_successor(here, [&](const coordinates&) { ++successors; });
  all.most = std::max({all.most, value, value_of(here.at(), here.machine().grid)});
  if (++all.heard < successors) return;
  if (!is_root(here)) here.send<contribute>(line_tree(here).predecessor(here.at()), all.most);
}

}  // namespace

program_result run_line(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                        const nacre::emulation_options& how) {
  const auto run = nacre::emulate(
      rt, machine,
      [](emulated_node& here) {
        if (is_root(here)) here.add_task<spread>();
      },
      how);
  program_result result{run};
  if (run.counts().events != machine.nodes_present())
    result.error = fmt::format("{} nodes heard it", run.counts().events);
  return result;
}

program_result run_reduce(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                          const nacre::emulation_options& how) {
  const auto start = [](emulated_node& here) {
    bool last = true;
    for_each_successor(here, [&](const coordinates&) { last = false; });
    if (last) here.add_task<contribute>(std::int64_t{0});
  };
  program_result result{nacre::emulate(rt, machine, start, how)};
  const std::uint64_t expected = machine.nodes_present() - 1;
  if (result.run.messages() != expected) result.error = fmt::format("{} messages", result.run.messages());
  return result;
}

}  // namespace emulate
