// SPDX-License-Identifier: Apache-2.0
// A saturated ring: every thread of every node passes a message to the same thread of the next node, again and again.
#include <cstdint>

#include <fmt/format.h>

#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

coordinates next_of(const coordinates& at, const coordinates& grid) {
  if (at.x + 1 < grid.x) return {at.x + 1, at.y, at.z};
  if (at.y + 1 < grid.y) return {0, at.y + 1, at.z};
  return {0, 0, at.z + 1 < grid.z ? at.z + 1 : 0};
}

/// The next node that exists. Out of line, for where none is missing its caller is short.
[[gnu::noinline]] coordinates next_present(const emulated_node& here) {
  coordinates next = next_of(here.at(), here.machine().grid);
  while (!here.exists(next)) next = next_of(next, here.machine().grid);
  return next;
}

void pass(emulated_node& here, std::uint32_t rounds) {
  if (rounds == 0) return;
  const nacre::emulated_machine& machine = here.machine();
  const coordinates next = machine.missing.empty() ? next_of(here.at(), machine.grid) : next_present(here);
  here.send<pass>(nacre::emulated::thread(here.thread()), next, rounds - 1);
}

}  // namespace

program_result run_ring(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters& with,
                        const nacre::emulation_options& how) {
  const auto start = [&](emulated_node& here) {
    for (std::uint32_t thread = 0; thread < machine.threads; ++thread) {
      here.add_task<pass>(nacre::emulated::thread(thread), with.rounds);
    }
  };
  program_result result{nacre::emulate(rt, machine, start, how)};
  const std::uint64_t expected = machine.nodes_present() * machine.threads * with.rounds;
  if (result.run.messages() != expected) result.error = fmt::format("{} messages", result.run.messages());
  return result;
}

}  // namespace emulate
