// SPDX-License-Identifier: Apache-2.0
// Which cores the threads of a rank run on: a plan made from the host's cores and the ranks that share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nacre {

/// Processors of one host by the numbers that the system gives them, ascending.
using processor_list = std::vector<std::uint32_t>;

/// A core that this process may use.
struct host_core {
  processor_list processors;  ///< its hardware threads, as far as the process may use them
  std::uint32_t domain = 0;   ///< the NUMA domain that its memory is in, counted from 0 in the order of the cores
};
/// The cores in hwloc's order, in which neighbours share caches and domains.
using host_cores = std::vector<host_core>;

/// The cores of this host that the calling thread may run on, as hwloc and the affinity mask say: taskset, Slurm and
/// cpusets restrict it. Takes some milliseconds. Without a topology each processor is a core.
[[nodiscard]] host_cores cores_of_this_host();
/// False where /sys does not say which processors share a core, caches and memory, as in some containers. The cores are
/// those that the processors tell of themselves then, and each processor is a core if they tell nothing.
[[nodiscard]] bool host_describes_its_processors();
/// The cores of an invented host, such as hwloc's "numa:2 core:4 pu:2". Throws setup_error when hwloc refuses it.
[[nodiscard]] host_cores cores_of_synthetic_host(const std::string& description);

/// How threads are bound to cores.
enum class binding : std::uint8_t {
  by_need,  ///< each rank to its own share of the cores, where several processes share a host with enough
  core,     ///< each worker to a core of its own
  numa,     ///< each worker to the NUMA domain of its rank
  none
};

struct placement_request {
  binding mode = binding::by_need;
  std::uint32_t ranks = 1;         ///< of this job on this host
  std::uint32_t rank = 0;          ///< the position of this one among them
  std::uint32_t workers = 1;       ///< of each rank
  bool poll_thread = false;        ///< each rank has a thread that only polls
  bool several_processes = false;  ///< the ranks are processes, which a launcher of ours has started
};

/// The processors of each thread of a rank. An empty list: the thread is not bound.
struct placement {
  processor_list rank;                  ///< main, the substitute worker and the fallback poller
  std::vector<processor_list> workers;  ///< worker 0 runs on main's thread, so its list is that of the rank
  processor_list poll_thread;

  /// For people: the processors of the rank, such as "0-3,8"; "any" when it is not bound.
  [[nodiscard]] std::string text() const;
};

/// | mode | a rank gets | its workers | refused |
/// |---|---|---|---|
/// | by_need | an equal share | any core of the share | never; not bound if threads outnumber processors |
/// | core | an equal share of the cores | a core each, or a hardware thread each | more threads than these |
/// | numa | domains of its own, or one that ranks share | one of these domains | never |
///
/// Shares are runs of neighbouring cores. Main's thread is bound to the whole share and not to a core, because the
/// substitute worker runs beside it while main computes. Throws setup_error where the table says refused.
[[nodiscard]] placement place_threads(const host_cores& cores, const placement_request& asked);

/// "0-3,8" for {0, 1, 2, 3, 8}.
[[nodiscard]] std::string text_of(const processor_list& list);

}  // namespace nacre
