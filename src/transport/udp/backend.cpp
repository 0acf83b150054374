// SPDX-License-Identifier: Apache-2.0
// The row of the backend udp and its options.
#include "transport/udp/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/member_fabric.hpp"
#include "transport/udp/fabric.hpp"

namespace nacre::transport::udp {
namespace {

constexpr std::int64_t mtu_min = 1280;  // every link of IPv6 carries it (RFC 8200)

constexpr std::array options{
    launch::connect_timeout_option("udp.connect_timeout"),
    option{.name = "udp.output_max",
           .kind = option_kind::bytes,
           .default_value = "8MiB",
           .range = "64KiB..1GiB",
           .help =
               "What may wait for its acknowledgement by one peer on one channel before its senders are slowed; one "
               "message may exceed it"},
    option{.name = "udp.receive_buffer",
           .kind = option_kind::bytes,
           .default_value = "4MiB",
           .range = "64KiB..1GiB",
           .help = "What the kernel may keep of each peer until the rank polls; net.core.rmem_max limits it to twice "
                   "its value. Peers send no more ahead than fits"},
    option{.name = "udp.mtu",
           .kind = option_kind::bytes,
           .default_value = "0",
           .range = "0..64KiB",
           .help = "The longest packet, with the headers of IP and UDP, at least 1280; 0: as long as the route to each "
                   "peer carries"},
    option{.name = "udp.silence_max",
           .kind = option_kind::duration,
           .default_value = "20s",
           .range = "100ms..1h",
           .help = "How long no datagram may come from a peer that has something to acknowledge before it is asked "
                   "another way whether it polls; if it does, no datagram passes, and the job ends"},
    option{.name = "udp.interface",
           .kind = option_kind::text,
           .default_value = "",
           .help =
               "Network interface, or its address, at which a rank of a job with several hosts meets the others and "
               "receives datagrams; empty as for tcp"},
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

std::uint32_t checked_mtu(std::int64_t bytes) {
  if (bytes == 0 || bytes >= mtu_min) return static_cast<std::uint32_t>(bytes);
  throw setup_error({.problem = fmt::format("udp.mtu is {} bytes", bytes),
                     .why = "shorter packets leave too little room for messages",
                     .remedy = fmt::format("give at least {}, or 0 for what the route carries", mtu_min)});
}

}  // namespace

settings read_settings(const config& configuration) {
  if (!configuration.is_declared("udp.output_max")) return {};
  return {.join = {.connect_timeout = configuration.get_duration("udp.connect_timeout"),
                   .time_option = "udp.connect_timeout",
                   .interface = configuration.get_string("udp.interface")},
          .output_bytes_max = static_cast<std::size_t>(configuration.get_int("udp.output_max")),
          .receive_buffer_bytes = static_cast<std::size_t>(configuration.get_int("udp.receive_buffer")),
          .mtu = checked_mtu(configuration.get_int("udp.mtu")),
          .silence_max = configuration.get_duration("udp.silence_max")};
}

backend make_backend() noexcept {
  return {.name = "udp",
          .help =
              "ranks are processes that send each other authenticated datagrams; start them with nacre run or srun "
              "--mpi=pmix",
          .options = options,
          .make_local = make_local,
          .join_job = join_job};
}

}  // namespace nacre::transport::udp
