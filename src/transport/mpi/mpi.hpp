// SPDX-License-Identifier: Apache-2.0
// The backend whose ranks are processes that mpirun has started, and whose messages travel by MPI.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::mpi {

/// The row `mpi` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::mpi
