// SPDX-License-Identifier: Apache-2.0
// The backend mpi: ranks are processes that mpirun has started and that communicate by MPI.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::mpi {

/// The row `mpi` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::mpi
