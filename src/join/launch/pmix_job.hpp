// SPDX-License-Identifier: Apache-2.0
// A job that was started by a launcher that speaks PMIx: srun --mpi=pmix, prterun, mpirun of OpenMPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nacre/ids.hpp>

#include "join/net/socket_handshake.hpp"
#include "wire/job_secret.hpp"

namespace nacre::launch {

/// This process's connection to the PMIx server that started it. libpmix is loaded when the first one is made, so no
/// program depends on it. The server passes values between the processes of one job. Only the same user may read the
/// server's files, and so the secret.
///
/// Only one at a time in a process; it may exist beside an MPI library that uses PMIx itself. One thread.
class pmix_job {
 public:
  /// Throws setup_error when libpmix is missing, was missing when Nacre was built, or finds no server.
  pmix_job();
  pmix_job(const pmix_job&) = delete;
  pmix_job& operator=(const pmix_job&) = delete;
  /// Tells the server that this process ends in order.
  ~pmix_job();

  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t ranks_on_host() const noexcept { return ranks_on_host_; }
  /// The number of ranks of this host that may use the same processors as this one, itself included: 1 where the
  /// launcher has given each rank its own. Waits for all other ranks, which must call it too. Once, before exchange;
  /// throws setup_error, at the deadline at the latest.
  [[nodiscard]] std::uint32_t count_ranks_sharing_cores(net::time_point deadline);

  /// The values that all ranks have after exchange.
  struct exchange_result {
    job_secret secret;                   ///< drawn by rank 0
    std::vector<std::string> addresses;  ///< by rank
  };
  /// Publishes the address where this rank listens, waits for all others, and returns all addresses and the secret.
  /// Once. Throws setup_error, at the deadline at the latest.
  [[nodiscard]] exchange_result exchange(const std::string& own_address, net::time_point deadline);

 private:
  rank_id rank_;
  std::uint32_t size_ = 0;
  std::uint32_t ranks_on_host_ = 0;
  std::string job_;  // the namespace of the server
};

}  // namespace nacre::launch
