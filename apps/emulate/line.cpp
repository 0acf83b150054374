// SPDX-License-Identifier: Apache-2.0
// The line broadcast and the line reduction of the emulator paper, section 5.2.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

/// The nodes that follow a node on the way from the corner: a line along x, from each of its nodes one along y, from
/// each of theirs one along z.
template <class Visit>
void for_each_successor(const emulated_node& here, Visit visit) {
  const coordinates& at = here.at();
  const coordinates& grid = here.machine().grid;
  if (at.z == 0 && at.y == 0 && at.x + 1 < grid.x) visit(coordinates{at.x + 1, at.y, at.z});
  if (at.z == 0 && at.y + 1 < grid.y) visit(coordinates{at.x, at.y + 1, at.z});
  if (at.z + 1 < grid.z) visit(coordinates{at.x, at.y, at.z + 1});
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
  const coordinates& at = here.at();
  if (at.z > 0) return here.send<contribute>({at.x, at.y, at.z - 1}, all.most);
  if (at.y > 0) return here.send<contribute>({at.x, at.y - 1, at.z}, all.most);
  if (at.x > 0) return here.send<contribute>({at.x - 1, at.y, at.z}, all.most);
}

}  // namespace

program_result run_line(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters&,
                        const nacre::emulation_options& how) {
  const auto run = nacre::emulate(
      rt, machine,
      [](emulated_node& here) {
        if (here.at() == coordinates{}) here.add_task<spread>();
      },
      how);
  program_result result{run};
  if (run.counts().events != machine.nodes()) result.error = fmt::format("{} nodes heard it", run.counts().events);
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
  const std::uint64_t expected = machine.nodes() - 1;
  if (result.run.messages() != expected) result.error = fmt::format("{} messages", result.run.messages());
  return result;
}

}  // namespace emulate
