// SPDX-License-Identifier: Apache-2.0
// The fabric of the backend mpi: the one rank of a job that this process is, or all ranks in one process for tests.
#include "transport/mpi/fabric.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/core_fingerprint.hpp"
#include "wire/binary_fingerprint.hpp"
#include "wire/peer_identity.hpp"

namespace nacre::transport::mpi {
namespace {

/// The values that must be equal in all ranks of a job; gathered at start-up.
struct identity {
  std::uint64_t binary = 0;
  std::uint64_t handlers = 0;
  std::uint64_t host = 0;
  std::uint64_t cores = 0;  // differs between hosts, and where mpirun has bound ranks to different cores
  std::uint32_t protocol = wire_protocol_version;
  std::uint32_t slot_bytes = 0;
};

std::string difference(const identity& own_identity, const identity& other) {
  if (other.binary != own_identity.binary) return "runs another executable";
  if (other.handlers != own_identity.handlers) {
    return fmt::format("has other handlers (handler table {:016x}, there {:016x})", other.handlers,
                       own_identity.handlers);
  }
  if (other.protocol != own_identity.protocol) return "speaks another version of the protocol";
  if (other.slot_bytes != own_identity.slot_bytes) return "has another value of mpi.slot";
  return {};
}

/// Every rank finds the same pair that does not match, so all of them give up together. Returns how many ranks are
/// near this one.
neighbours compare_ranks(mesh& net, const settings& settings, const program& program_here) {
  const identity own_identity{.binary = binary_fingerprint(),
                              .handlers = program_here.handlers,
                              .host = fingerprint_of_host(),
                              .cores = fingerprint_of_cores(),
                              .slot_bytes = settings.shape.bytes};
  std::vector<identity> all(net.size());
  if (!net.gather(std::as_bytes(std::span(&own_identity, 1)), std::as_writable_bytes(std::span(all)))) {
    throw setup_error(fmt::format("the ranks could not be compared: {}", net.error()));
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string name = difference(all.front(), all[rank]);
    if (name.empty()) continue;
    net.retire();
    throw setup_error(
        {.problem = fmt::format("rank {} {}, unlike rank 0", rank, name),
         .why = "ranks of one job must read each other's messages alike",
         .remedy = "rebuild, and start every rank from the same executable, with the same libraries and options"});
  }
  neighbours result;
  for (const identity& each : all) {
    result.on_host += each.host == own_identity.host ? 1 : 0;
    result.sharing_cores += each.cores == own_identity.cores ? 1 : 0;
  }
  return result;
}

[[noreturn]] void throw_not_started() {
  throw setup_error({.problem = "transport mpi was chosen, but no mpirun has started this program",
                     .why = "it connects the processes that mpirun starts",
                     .remedy = "type `mpirun -n 4 PROGRAM`, or choose a transport that needs no MPI, as "
                               "`nacre run -n 4 PROGRAM` does"});
}

}  // namespace

std::unique_ptr<fabric> mpi_fabric::join(const module_choice& choice, std::optional<std::int64_t> communicator,
                                         const settings& tuning, const program& program) {
  const auto signs = read_launch_signs();
  const flavour* const wanted = find_flavour(choice);
  if (!signs && !communicator && wanted == nullptr) throw_not_started();
  library& library = load_library(wanted, choice.folder);
  const bool programs_own = library.started();
  if (!signs && !programs_own) throw_not_started();
  if (!library.start()) throw setup_error(fmt::format("{} does not begin: {}", library.name(), library.error()));
  std::unique_ptr<mesh> net(library.join(communicator ? &*communicator : nullptr, tuning.shape));
  if (net == nullptr)
    throw setup_error(fmt::format("{} does not connect the ranks: {}", library.name(), library.error()));
  if (signs && !communicator && signs->size != net->size()) {
    net->retire();
    throw setup_error({.problem = fmt::format("mpirun has started {} ranks, but {} sees {}", signs->size,
                                              library.name(), net->size()),
                       .why = fmt::format("that mpirun belongs to {}", signs->launcher->title),
                       .remedy = "start the program with the mpirun of its own MPI, or change --nacre.mpi.library"});
  }
  const neighbours near = compare_ranks(*net, tuning, program);
  const rank_id rank(net->rank());
  settings in_job = tuning;
  in_job.tells_of_failure = programs_own;
  in_job.patience_in_failure = std::chrono::nanoseconds::zero();
  // A rank may still write its files when the others have closed; that of one that has died ends with mpirun.
  in_job.patience_at_close = std::chrono::minutes(10);
  return std::make_unique<mpi_fabric>(std::move(net), std::vector{rank}, near, in_job);
}

std::unique_ptr<fabric> mpi_fabric::make_local(std::uint32_t ranks, const module_choice& choice,
                                               const settings& settings) {
  library& library = load_library(find_flavour(choice), choice.folder);
  if (!library.start()) throw setup_error(fmt::format("{} does not begin: {}", library.name(), library.error()));
  std::unique_ptr<mesh> net(library.make_local(ranks, settings.shape));
  if (net == nullptr) throw setup_error(fmt::format("{} connects no ranks: {}", library.name(), library.error()));
  std::vector<rank_id> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) all.emplace_back(rank);
  return std::make_unique<mpi_fabric>(std::move(net), std::move(all),
                                      neighbours{.on_host = ranks, .sharing_cores = ranks}, settings);
}

mpi_fabric::mpi_fabric(std::unique_ptr<mesh> net, std::vector<rank_id> local_ranks, neighbours neighbours,
                       const settings& settings)
    : mesh_(std::move(net)), local_ranks_(std::move(local_ranks)), neighbours_(neighbours), settings_(settings) {}

mpi_fabric::~mpi_fabric() {
  const std::lock_guard lock(shared_->lock);
  if (shared_->quiet) mesh_->retire();
  mesh_.reset();
}

std::unique_ptr<endpoint> mpi_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  const std::lock_guard lock(shared_->lock);
  std::unique_ptr<port> end(mesh_->open(rank.value()));
  if (end == nullptr) throw setup_error(fmt::format("MPI does not receive: {}", mesh_->error()));
  return std::make_unique<mpi_endpoint>(rank, size(), std::move(end), shared_, settings_);
}

}  // namespace nacre::transport::mpi
