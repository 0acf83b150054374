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

/// Returns the configuration of a job that has the ranks of `communicator`. All of these ranks pass it to nacre::run.
///
/// The application initialises and finalizes MPI. Nacre works on duplicates of the communicator, so neither Nacre nor
/// the application sees a message of the other, and frees them before nacre::run returns. The communicator stays the
/// application's and must live until then. The level of thread support must be MPI_THREAD_SERIALIZED at least, and
/// MPI_THREAD_MULTIPLE when the application calls MPI while nacre::run is running (from its main function or from
/// handlers). Throws setup_error when mpi.h belongs to an MPI other than Open MPI and MPICH.
///
/// This header is compiled with the application's mpi.h and takes the communicator's Fortran handle. Nacre's module for
/// that MPI turns the handle into a communicator again. Nacre's library itself depends on no MPI.
[[nodiscard]] inline config mpi_config(MPI_Comm communicator) {
  config result;
  detail::set_mpi(result, communicator);
  return result;
}

/// Returns the configuration of such a job, with the options of the command line, the environment and the file that
/// --nacre.config names. Takes Nacre's options out of the arguments. Throws setup_error also for a wrong option.
[[nodiscard]] inline config mpi_config(MPI_Comm communicator, int& argc, char** argv) {
  config result = read_config(argc, argv);
  detail::set_mpi(result, communicator);
  return result;
}

}  // namespace nacre
