// SPDX-License-Identifier: Apache-2.0
// The implementations of MPI that Nacre has modules for, and the signs that identify the one to use.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nacre::transport::mpi {

/// One implementation.
struct flavour {
  std::string_view name;      ///< as in mpi.library and in the file name of the module
  std::string_view title;     ///< for people
  std::string_view package;   ///< of Debian, to build the module with
  const char* own_symbol;     ///< a function or variable that only this MPI has
  const char* size_variable;  ///< how its mpirun tells the number of ranks
  const char* rank_variable;
};

inline constexpr std::array flavours{
    flavour{"openmpi", "Open MPI", "libopenmpi-dev", "ompi_mpi_comm_world", "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_RANK"},
    flavour{"mpich", "MPICH", "libmpich-dev", "MPIR_Err_create_code", "PMI_SIZE", "PMI_RANK"},
};

/// The signs of an mpirun in the environment of this process.
struct launch_signs {
  const flavour* launcher = nullptr;
  std::uint32_t size = 0;
};
[[nodiscard]] std::optional<launch_signs> read_launch_signs() noexcept;

/// True when an mpirun has started this process.
[[nodiscard]] bool started_by_mpirun() noexcept;

}  // namespace nacre::transport::mpi
