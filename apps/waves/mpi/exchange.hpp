// SPDX-License-Identifier: Apache-2.0
// The halos of the patches of a rank over plain MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "numerics/cut.hpp"
#include "numerics/halo_exchange.hpp"
#include "numerics/subdomain.hpp"

namespace waves {

/// A patch, and where it is in the cut.
struct local_patch {
  int at_y = 0, at_z = 0;
  std::unique_ptr<subdomain> fields;
};

/// Patches are dealt out by z, then y, in equal runs.
[[nodiscard]] int owner_of(const cut& patches, int at_y, int at_z, int ranks) noexcept;

/// Receives are posted before anything is computed, sends are started when a patch is ready, and halos of patches of
/// the same rank are copied.
class halo_exchange {
 public:
  enum class field { displacement, acceleration };

  halo_exchange(std::vector<local_patch>& patches, const cut& cut);
  /// Posts the receives of the next exchange.
  void post();
  /// Starts the sends of a patch.
  void send(std::size_t patch, field field);
  /// Waits for all of it, and fills the halos.
  void finish(field field);

 private:
  struct link {
    std::size_t patch = 0, number = 0;  // of the direction
    int rank = 0, send_tag = 0, receive_tag = 0;
    std::size_t neighbour = 0;  // the patch there, if it is on this rank
    std::vector<double> out, in;
  };
  [[nodiscard]] static rows& field_of(subdomain& subdomain, field field);

  std::vector<local_patch>& patches_;
  std::vector<link> remote_, local_;
  std::vector<MPI_Request> receives_, sends_;
};

}  // namespace waves
