// SPDX-License-Identifier: Apache-2.0
// Launchers other than nacre run: whether one has started this process, and whether it tells where the other ranks are.
#include "join/launch/foreign_launcher.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include <nacre/error.hpp>

#include "join/launch/job_credentials.hpp"

namespace nacre::launch {

bool started_by_pmix() noexcept {
  return std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr && !started_by_launcher();
}

namespace {

/// The environment variables by which a launcher tells a process its number and how many there are.
struct trace_of_launcher {
  const char* rank;
  const char* size;
  const char* name;
  const char* remedy;
};
constexpr trace_of_launcher traces[] = {
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun",
     "srun --mpi=pmix PROGRAM (srun --mpi=list shows what there is), or nacre run --hosts in an allocation"},
    {"PMI_RANK", "PMI_SIZE", "mpiexec", "nacre run --hosts A,B PROGRAM, or --nacre.transport=mpi"},
};

}  // namespace

bool is_first_process() noexcept {
  for (const char* name : {"NACRE_JOB_RANK", "PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

void refuse_lonely_task(std::string_view transport) {
  if (started_by_launcher() || started_by_pmix()) return;
  for (const trace_of_launcher& each : traces) {
    const char* const rank = std::getenv(each.rank);
    const char* const size = std::getenv(each.size);
    if (rank == nullptr || size == nullptr || std::strtol(size, nullptr, 10) < 2) continue;
    throw setup_error(
        {.problem = std::string(each.name) + " has started this process as task " + rank + " of " + size +
                    " and offers no PMIx",
         .why = "with the transport " + std::string(transport) + " each task would be a job of its own",
         .remedy = std::string(each.remedy) + "; if separate jobs are meant, say so with --nacre.transport=inproc"});
  }
}

}  // namespace nacre::launch
