// SPDX-License-Identifier: Apache-2.0
// The fabric of the backend mpi: the one rank of a job that this process is, or all ranks in one process for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/mpi/endpoint.hpp"
#include "transport/mpi/loader.hpp"
#include "transport/mpi/module.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::mpi {

/// The ranks near one, which is among them.
struct neighbours {
  std::uint32_t on_host = 0;
  std::uint32_t sharing_cores = 0;  ///< on this host, with the same processors
};

/// Ranks on a mesh of communicators.
class mpi_fabric final : public fabric {
 public:
  /// Joins the job of mpirun, or the ranks of the communicator with the given Fortran handle. Blocks until all ranks
  /// have. Throws setup_error when mpirun has not started this process, or when the ranks do not match.
  static std::unique_ptr<fabric> join(const module_choice& choice, std::optional<std::int64_t> communicator,
                                      const settings& settings, const program& program);
  /// All ranks in this process, which sends to itself through MPI.
  static std::unique_ptr<fabric> make_local(std::uint32_t ranks, const module_choice& choice, const settings& settings);

  mpi_fabric(std::unique_ptr<mesh> net, std::vector<rank_id> local_ranks, neighbours neighbours,
             const settings& settings);
  mpi_fabric(const mpi_fabric&) = delete;
  mpi_fabric& operator=(const mpi_fabric&) = delete;
  ~mpi_fabric() override;

  std::uint32_t size() const noexcept override { return mesh_->size(); }
  std::uint32_t ranks_on_host() const noexcept override { return neighbours_.on_host; }
  std::uint32_t ranks_sharing_cores() const noexcept override { return neighbours_.sharing_cores; }
  std::optional<std::uint32_t> place_on_host() const noexcept override {
    return local_ranks_.size() == neighbours_.sharing_cores ? std::optional(0U) : std::nullopt;
  }
  std::span<const rank_id> local_ranks() const noexcept override { return local_ranks_; }
  std::unique_ptr<endpoint> open(rank_id rank) override;

 private:
  std::unique_ptr<mesh> mesh_;
  std::vector<rank_id> local_ranks_;
  neighbours neighbours_;
  settings settings_;
  std::shared_ptr<shared_state> shared_ = std::make_shared<shared_state>();
};

}  // namespace nacre::transport::mpi
