// SPDX-License-Identifier: Apache-2.0
// Runs Nacre beside an application's own MPI, on the ranks of a communicator of the application.
#pragma once

#include <mpi.h>

#include <string>

#include <nacre/config.hpp>
#include <nacre/error.hpp>
#include <nacre/run.hpp>

namespace nacre {
namespace detail {

inline void set_mpi(config& configuration, MPI_Comm communicator) {
#if defined(OPEN_MPI)
  configuration.set("mpi.library", "openmpi");
#elif defined(MPICH_VERSION)
  configuration.set("mpi.library", "mpich");
#else
  throw setup_error("mpi.h is neither that of Open MPI nor that of MPICH, for which Nacre has modules");
#endif
  configuration.set("transport", "mpi");
  configuration.set("mpi.communicator", std::to_string(MPI_Comm_c2f(communicator)));
}

}  // namespace detail

/// The configuration of a job whose ranks are those of `communicator`, for nacre::run, which every one of them calls.
///
/// The application initialises and finalizes MPI. Nacre works on duplicates of the communicator, so that neither sees a
/// message of the other, and frees them before nacre::run returns; the communicator stays the application's and must
/// live until then. The level of thread support must be MPI_THREAD_SERIALIZED at least, and MPI_THREAD_MULTIPLE when
/// the application calls MPI while nacre::run is under way (from its main function or from handlers).
///
/// This header is compiled with the application's mpi.h; everything behind it works on the communicator's Fortran
/// handle, which the module of the same MPI turns back. Nacre's library itself depends on no MPI.
[[nodiscard]] inline config mpi_config(MPI_Comm communicator) {
  config result;
  detail::set_mpi(result, communicator);
  return result;
}

/// The same, with the options of the command line, the environment and the file that --nacre.config names. Takes
/// Nacre's options out of the arguments; throws setup_error.
[[nodiscard]] inline config mpi_config(MPI_Comm communicator, int& argc, char** argv) {
  config result = read_config(argc, argv);
  detail::set_mpi(result, communicator);
  return result;
}

}  // namespace nacre
