// SPDX-License-Identifier: Apache-2.0
// The row of the backend tcp and its options.
#include "transport/tcp/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/member_fabric.hpp"
#include "transport/tcp/fabric.hpp"

namespace nacre::transport::tcp {
namespace {

constexpr std::array options{
    launch::connect_timeout_option("tcp.connect_timeout"),
    option{.name = "tcp.output_max",
           .kind = option_kind::bytes,
           .default_value = "8MiB",
           .range = "64KiB..1GiB",
           .help = "What may wait to be written to one peer on one channel before its senders are slowed; one message "
                   "may exceed it"},
    option{.name = "tcp.sockets",
           .kind = option_kind::integer,
           .default_value = "3",
           .range = "1..3",
           .help = "Sockets for each peer: 3, one for each channel; 2, one for system and one for the others; 1, which "
                   "spares open files in jobs of thousands of ranks, but lets system messages wait behind the others"},
    option{.name = "tcp.interface",
           .kind = option_kind::text,
           .default_value = "",
           .range = "",
           .help = "Network interface, or its address, at which a rank of a job with several hosts listens; empty: the "
                   "one that leads to the launcher, or the first under a launcher that speaks PMIx"},
};

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config& configuration) {
  return std::make_unique<local_fabric>(ranks, read_settings(configuration));
}

std::unique_ptr<fabric> join_job(const config& configuration, const program& program) {
  settings settings = read_settings(configuration);
  settings.join.handlers = program.handlers;
  return std::make_unique<member_fabric>(
      settings.join, [settings](launch::joined_rank rank) { return endpoint_of(std::move(rank), settings); });
}

}  // namespace

settings read_settings(const config& configuration) {
  if (!configuration.is_declared("tcp.output_max")) return {};
  return {.join = {.connect_timeout = configuration.get_duration("tcp.connect_timeout"),
                   .interface = configuration.get_string("tcp.interface"),
                   .connections = static_cast<std::uint32_t>(configuration.get_int("tcp.sockets"))},
          .output_bytes_max = static_cast<std::size_t>(configuration.get_int("tcp.output_max"))};
}

backend make_backend() noexcept {
  return {.name = "tcp",
          .help = "ranks are processes that talk over sockets; start them with nacre run or srun --mpi=pmix",
          .options = options,
          .virtual_time = false,
          .make_local = make_local,
          .join_job = join_job};
}

}  // namespace nacre::transport::tcp
