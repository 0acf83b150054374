// SPDX-License-Identifier: Apache-2.0
// A saturated ring: every thread of every node passes a message to the same thread of the next node, again and again.
#include <cstdint>

#include <fmt/format.h>

#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

coordinates next_of(const coordinates& place, const coordinates& grid) {
  if (place.x + 1 < grid.x) return {place.x + 1, place.y, place.z};
  if (place.y + 1 < grid.y) return {0, place.y + 1, place.z};
  return {0, 0, place.z + 1 < grid.z ? place.z + 1 : 0};
}

/// The next node that exists. Out of line, for where none is missing its caller is short.
[[gnu::noinline]] coordinates next_present(const emulated_node& node) {
  coordinates next = next_of(node.at(), node.machine().grid);
  while (!node.exists(next)) next = next_of(next, node.machine().grid);
  return next;
}

void pass(emulated_node& node, std::uint32_t rounds) {
  if (rounds == 0) return;
  const nacre::emulated_machine& machine = node.machine();
  const coordinates next = machine.missing.empty() ? next_of(node.at(), machine.grid) : next_present(node);
  node.send<pass>(nacre::emulated::thread(node.thread()), next, rounds - 1);
}

}  // namespace

program_result run_ring(nacre::runtime& rt, const nacre::emulated_machine& machine,
                        const program_parameters& parameters, const nacre::emulation_options& options) {
  const auto start = [&](emulated_node& node) {
    for (std::uint32_t thread = 0; thread < machine.threads; ++thread) {
      node.add_task<pass>(nacre::emulated::thread(thread), parameters.rounds);
    }
  };
  program_result result{nacre::emulate(rt, machine, start, options)};
  const std::uint64_t expected = machine.nodes_present() * machine.threads * parameters.rounds;
  if (result.run.messages() != expected) result.error = fmt::format("{} messages", result.run.messages());
  return result;
}

}  // namespace emulate
