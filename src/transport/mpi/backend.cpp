// SPDX-License-Identifier: Apache-2.0
// The row of the backend mpi and its options.
#include "transport/mpi/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "transport/mpi/fabric.hpp"

namespace nacre::transport::mpi {
namespace {

constexpr std::array options{
    option{.name = "mpi.library",
           .kind = option_kind::choice,
           .default_value = "auto",
           .range = "auto|openmpi|mpich",
           .help = "Which MPI: auto takes the one that the program uses itself, or whose mpirun has started it"},
    option{.name = "mpi.modules",
           .kind = option_kind::text,
           .unit = "folder",
           .help = "Where nacre_mpi_openmpi.so and nacre_mpi_mpich.so are; empty looks beside the program and where "
                   "Nacre was installed"},
    option{.name = "mpi.communicator",
           .kind = option_kind::text,
           .unit = "handle",
           .help = "The Fortran handle of the communicator whose ranks are those of the job, as nacre::mpi_config sets "
                   "it; empty is MPI_COMM_WORLD"},
    option{.name = "mpi.slot",
           .kind = option_kind::bytes,
           .default_value = "16KiB",
           .range = "256B..64KiB",
           .help = "Size of a receive slot; longer messages are announced first and then received where they belong"},
    option{.name = "mpi.slots",
           .kind = option_kind::integer,
           .default_value = "0",
           .unit = "slots",
           .range = "0..1024",
           .help = "Receive slots of each channel; 0 takes as many as are best with the MPI"},
    option{.name = "mpi.output_max",
           .kind = option_kind::bytes,
           .default_value = "8MiB",
           .range = "64KiB..1GiB",
           .help = "What may wait to be sent to one peer on one channel before its senders are slowed; one message may "
                   "exceed it"},
    option{.name = "mpi.pause_max",
           .kind = option_kind::duration,
           .default_value = "500us",
           .range = "1us..10ms",
           .help = "The longest sleep of an idle rank between two looks, as MPI cannot wake it"},
};

settings read_settings(const config& configuration) {
  return {.shape = {.slots = static_cast<std::uint32_t>(configuration.get_int("mpi.slots")),
                    .bytes = static_cast<std::uint32_t>(configuration.get_int("mpi.slot"))},
          .output_bytes_max = static_cast<std::size_t>(configuration.get_int("mpi.output_max")),
          .pause_max = configuration.get_duration("mpi.pause_max")};
}

module_choice read_choice(const config& configuration) {
  return {.library = configuration.get_string("mpi.library"), .folder = configuration.get_string("mpi.modules")};
}

std::optional<std::int64_t> read_communicator(const config& configuration) {
  const std::string& text = configuration.get_string("mpi.communicator");
  if (text.empty()) return std::nullopt;
  std::size_t read = 0;
  std::int64_t handle = 0;
  try {
    handle = std::stoll(text, &read);
  } catch (const std::exception&) {
  }
  if (read != text.size()) throw setup_error("mpi.communicator is '" + text + "', no handle: leave it to mpi_config");
  return handle;
}

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config& configuration) {
  return mpi_fabric::make_local(ranks, read_choice(configuration), read_settings(configuration));
}

std::unique_ptr<fabric> join_job(const config& configuration, const program& program) {
  return mpi_fabric::join(read_choice(configuration), read_communicator(configuration), read_settings(configuration),
                          program);
}

}  // namespace

backend make_backend() noexcept {
  return {.name = "mpi",
          .help = "ranks are processes that mpirun has started, and talk by its MPI (Open MPI or MPICH)",
          .options = options,
          .needs_launcher = true,
          .make_local = make_local,
          .join_job = join_job};
}

}  // namespace nacre::transport::mpi
