// SPDX-License-Identifier: Apache-2.0
// The tables of options.
#include "runtime/options.hpp"

#include <sched.h>

#include <algorithm>

#include "balance/balancer/registry.hpp"
#include "transport/transport.hpp"

namespace nacre {
namespace {

constexpr option runtime_options[] = {
    {"transport", option_kind::choice, "inproc", "", "inproc|tcp|sim",
     "what carries messages between ranks: threads of one process, processes, or a simulated machine"},
    {"ranks", option_kind::integer, "1", "ranks", "1..1000000", "ranks in this process (inproc, sim)"},
    {"workers", option_kind::integer, "0", "threads", "0..65536", "workers of each rank; 0 shares out the cores, under sim it means 1"},
    {"seed", option_kind::integer, "1", "", "0..", "seeds every random choice; under sim it decides the whole run"},
    {"progress", option_kind::choice, "auto", "", "auto|shared|dedicated",
     "who runs the poll loop: the workers in turns, a thread of its own, or that only where a core is to spare"},
    {"spin", option_kind::duration, "20us", "", "0us..10ms", "how long a worker without work looks before it sleeps"},
    {"location", option_kind::choice, "jump_update", "", "jump_update",
     "who is told where a mobile object is"},
    {"hops_max", option_kind::integer, "8", "ranks", "1..200",
     "how often a message is forwarded before it goes to the object's home"},
    {"summary", option_kind::boolean, "false", "", "", "print where the time went and what moved when the run ends"},
    {"trace_hash", option_kind::boolean, "false", "", "",
     "under sim: print at the end a hash of everything that happened, equal for equal seeds"},
    {"summary_json", option_kind::text, "", "file", "", "write the same as JSON to this file"},
};

}  // namespace

std::vector<option_table> all_option_tables() {
  std::vector<option_table> tables{{"runtime", runtime_options}, {"balance", balance_options()}};
  for (const transport::backend& each : transport::backends()) {
    if (!each.options.empty()) tables.push_back({each.name, each.options});
  }
  return tables;
}

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

std::uint32_t workers_by_default(std::uint32_t ranks_on_host) {
  return std::max(1u, usable_cores() / std::max(1u, ranks_on_host));
}

}  // namespace nacre
