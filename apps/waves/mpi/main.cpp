// SPDX-License-Identifier: Apache-2.0
// waves_mpi: the same computation over plain MPI, to measure waves by. It takes the options of waves, but of
// output --json alone, and computes the last of its problems.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <nacre/error.hpp>
#include <program_options.hpp>

#include "exchange.hpp"
#include "numerics/digest.hpp"
#include "output/report.hpp"
#include "output/results.hpp"
#include "setup/options.hpp"

namespace {

using namespace waves;

std::vector<local_patch> own_patches(const std::shared_ptr<const problem>& subject, const cut& cut) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<local_patch> patches;
  for (int z = 0; z < cut.z(); ++z) {
    for (int y = 0; y < cut.y(); ++y) {
      if (owner_of(cut, y, z, ranks) != rank) continue;
      patches.push_back({y, z, std::make_unique<subdomain>(subject, cut.box(y, z))});
    }
  }
  return patches;
}

/// Returns the seconds that the steps took.
double run(const problem& problem, std::vector<local_patch>& patches, const cut& cut) {
  using field = halo_exchange::field;
  halo_exchange halos(patches, cut);
  scratch room;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  halos.post();
  for (int step = 0; step < problem.steps; ++step) {
    for (std::size_t k = 0; k < patches.size(); ++k) {
      patches[k].fields->accelerate(room);
      halos.send(k, field::acceleration);
    }
    halos.finish(field::acceleration);
    halos.post();
    for (std::size_t k = 0; k < patches.size(); ++k) {
      patches[k].fields->advance(room);
      halos.send(k, field::displacement);
    }
    halos.finish(field::displacement);
    if (step + 1 < problem.steps) halos.post();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

/// An option of waves that is asked for and not served here; else null.
const char* unserved_option(const options& asked) {
  if (!asked.seismograms.empty()) return "--seismograms";
  if (!asked.reference.empty()) return "--reference";
  if (!asked.snapshots.empty()) return "--snapshots";
  if (asked.plane != options().plane) return "--plane";
  return asked.every > 0 ? "--every" : nullptr;
}

int run_all(const options& asked) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (const char* option = unserved_option(asked)) {
    if (rank != 0) return 0;  // one line is enough, and rank 0 ends the job behind it
    throw nacre::setup_error({fmt::format("{} is an option of waves alone", option),
                              "waves_mpi measures, and writes no more than --json", "leave it out, or run waves"});
  }
  const auto rule = std::make_shared<const problem>(make_problem(descriptions(asked).back(), chosen_kernels(asked)));
  const cut cut =
      cut_into(rule->grid, static_cast<int>(asked.patches != 0 ? asked.patches : static_cast<std::uint32_t>(ranks)));
  if (cut.patches() < ranks) {
    if (rank == 0) fmt::print(stderr, "waves_mpi: {} patches are fewer than ranks\n", cut.patches());
    return 2;
  }
  std::vector<local_patch> patches = own_patches(rule, cut);
  report result;
  result.name = rule->name;
  result.seconds = run(*rule, patches, cut);
  std::uint64_t own_digest = 0;
  for (const local_patch& each : patches) own_digest += digest_of(*each.fields);
  MPI_Reduce(&own_digest, &result.digest, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  int own_fault = 0, fault = 0;
  for (const local_patch& each : patches) own_fault |= each.fields->is_finite() ? 0 : 1;
  MPI_Reduce(&own_fault, &fault, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;
  if (fault != 0) {
    throw std::runtime_error(
        "the displacement is not finite: its step is too long for these materials: take a smaller --step");
  }
  result.points = rule->grid.points();
  result.steps = rule->steps;
  result.points_per_second = static_cast<double>(result.points) * result.steps / result.seconds;
  fmt::print("{}", report_text(result));
  if (!asked.json.empty()) write_file(asked.json, report_json(result));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = nacre::run_program("waves_mpi", [&] {
    const command_line command = parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    return run_all(command.asked);
  });
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
