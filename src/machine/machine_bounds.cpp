// SPDX-License-Identifier: Apache-2.0
// Checks the members of a machine one by one, and against each other.
#include "machine/machine_bounds.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nacre/error.hpp>
#include "machine/dragonfly.hpp"

namespace nacre::machine {
namespace {

/// Refuses machines in the words of one user of machines.
class bounds {
 public:
  explicit bounds(const refusal_words& words) : words_(words) {}
  void check(const emulated_machine& m) const;
  void check_grid(const coordinates& grid) const;

 private:
  void expect(bool holds, const std::string& problem, const std::string& remedy) const {
    if (!holds) throw setup_error({words_.subject + ": " + problem, words_.reason, remedy});
  }
  void check_time(std::chrono::nanoseconds time, const std::string& name) const;
  void check_threads(const emulated_machine& m) const;
  void check_contention(const emulated_machine& m) const;
  void check_cycles(const emulated_machine& m) const;
  void check_missing(const emulated_machine& m) const;
  void check_dragonfly(const emulated_machine& m) const;

  const refusal_words& words_;
};

void bounds::check_time(std::chrono::nanoseconds time, const std::string& name) const {
  constexpr std::chrono::nanoseconds most = std::chrono::hours(1);
  expect(time.count() >= 0 && time <= most, name + " = " + std::to_string(time.count()) + "ns",
         "set it between 0 and one hour");
}

void bounds::check_contention(const emulated_machine& m) const {
  if (!m.contention) return;
  expect(m.bandwidth > 0, "contention without a bandwidth: a packet would occupy a link for no time",
         "give bandwidth in bytes a second");
  expect(m.hop.count() > 0, "contention with a hop of 0ns: all routers would have to wait for each other",
         "set hop to 1ns or more");
}

void bounds::check_cycles(const emulated_machine& m) const {
  expect(m.cycle.count() >= 0 && m.cycle <= std::chrono::microseconds(1),
         "cycle = " + std::to_string(m.cycle.count()) + "ns", "set it between 0 and 1us");
  expect(m.processor_threads >= 1, "processor_threads = 0", "use 1 or more");
  for (const auto& [name, cycles] : {std::pair("local_cache_cycles", m.local_cache_cycles),
                                     {"local_memory_cycles", m.local_memory_cycles},
                                     {"remote_cache_cycles", m.remote_cache_cycles},
                                     {"remote_memory_cycles", m.remote_memory_cycles},
                                     {"float_cycles", m.float_cycles}}) {
    expect(cycles <= 1'000'000, name + (" = " + std::to_string(cycles)), "use 0 to 1000000");
  }
  expect(m.float_cycles >= 1, "float_cycles = 0", "use 1 or more");
}

void bounds::check_threads(const emulated_machine& m) const {
  expect(m.threads >= 1 && m.threads <= 60'000, "threads = " + std::to_string(m.threads), "use 1 to 60000");
  expect(m.communication_threads < m.threads,
         "communication_threads = " + std::to_string(m.communication_threads) +
             " of threads = " + std::to_string(m.threads),
         "leave one worker thread at least");
}

void bounds::check_missing(const emulated_machine& m) const {
  for (const coordinates& place : m.missing) {
    const bool inside =
        place.x >= 0 && place.y >= 0 && place.z >= 0 && place.x < m.grid.x && place.y < m.grid.y && place.z < m.grid.z;
    expect(inside,
           "missing names (" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " +
               std::to_string(place.z) + ")",
           "name nodes inside of the grid");
  }
  expect(m.missing.empty() || m.nodes_present() != 0, "all nodes are missing", "leave one at least");
}

void bounds::check_dragonfly(const emulated_machine& m) const {
  if (m.topology != emulated_topology::dragonfly) return;
  const std::uint64_t joined = machine::dragonfly(m.switch_ports).hosts_max();
  expect(m.nodes() <= joined,
         "a dragonfly of switch_ports = " + std::to_string(m.switch_ports) + " joins " + std::to_string(joined) +
             " nodes, not " + std::to_string(m.nodes()),
         "give its routers more ports");
}

void bounds::check_grid(const coordinates& grid) const {
  constexpr std::uint64_t nodes_max = std::uint64_t{1} << 31;
  std::uint64_t nodes = 1;
  for (const std::int32_t extent : {grid.x, grid.y, grid.z}) {
    expect(extent >= 1 && extent <= 1 << 20, "grid has an extent of " + std::to_string(extent), "use 1 to 1048576");
    nodes *= static_cast<std::uint64_t>(extent);
  }
  expect(nodes <= nodes_max, "grid has " + std::to_string(nodes) + " nodes", "use 2147483648 at most");
}

void bounds::check(const emulated_machine& m) const {
  check_grid(m.grid);
  check_threads(m);
  check_time(m.hop, "hop");
  check_time(m.turn, "turn");
  check_time(m.handler, "handler");
  check_time(m.injection, "injection");
  expect(std::isfinite(m.measured) && m.measured >= 0 && m.measured <= 1e6, "measured = " + std::to_string(m.measured),
         "give a factor from 0 to a million; 1 charges what the host takes");
  expect(m.output_packets <= 1 << 20, "output_packets = " + std::to_string(m.output_packets), "use 0 to 1048576");
  check_missing(m);
  expect(m.switch_ports >= 2 && m.switch_ports <= 1 << 20, "switch_ports = " + std::to_string(m.switch_ports),
         "use 2 to 1048576");
  check_dragonfly(m);
  expect(std::isfinite(m.bandwidth) && m.bandwidth >= 0 && (m.bandwidth == 0 || m.bandwidth >= 1),
         "bandwidth = " + std::to_string(m.bandwidth), "give bytes a second, 1 or more, or 0 for no limit");
  expect(m.packet_bytes >= 8 && m.packet_bytes <= packet_bytes_max, "packet_bytes = " + std::to_string(m.packet_bytes),
         "use 8 to 128");
  check_contention(m);
  check_cycles(m);
}

}  // namespace

void check_grid(const coordinates& grid, const refusal_words& words) { bounds(words).check_grid(grid); }

void check_members(const emulated_machine& machine, const refusal_words& words) { bounds(words).check(machine); }

}  // namespace nacre::machine
