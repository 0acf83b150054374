// SPDX-License-Identifier: Apache-2.0
// The row of the backend auto and its options.
#include "transport/auto/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "join/net/rdma_device.hpp"
#include "transport/auto/fabric.hpp"
#include "transport/ucx/loader.hpp"

namespace nacre::transport::auto_transport {
namespace {

constexpr std::size_t host_bytes_max = 100;

constexpr std::array options{
    option{
        .name = "auto.host",
        .kind = option_kind::text,
        .default_value = "",
        .range = "",
        .help = "Ranks with an equal word share memory; empty: those of one host, user and space of process numbers"},
    option{.name = "auto.between",
           .kind = option_kind::choice,
           .default_value = "auto",
           .range = "auto|tcp|udp|ucx",
           .help = "What carries messages between hosts: tcp; udp, for a network that loses packets; ucx; auto is ucx "
                   "where every rank has an RDMA device to open and the module for UCX, otherwise tcp"},
};

settings read_settings(const config& configuration) {
  const std::string host = configuration.get_string("auto.host");
  if (host.size() > host_bytes_max || !peer_identity::is_address(host)) {
    throw setup_error({.problem = "auto.host is '" + host + "'",
                       .why = "it is a word that travels with the addresses of ranks",
                       .remedy = "choose up to 100 printable letters without blanks"});
  }
  settings result{.tcp = tcp::read_settings(configuration),
                  .ucx = ucx::read_settings(configuration),
                  .udp = udp::read_settings(configuration),
                  .near = shm::read_settings(configuration),
                  .host = host};
  const std::string& separator = configuration.get_string("auto.between");
  if (separator == "tcp") result.far_transport = preference::tcp;
  if (separator == "ucx") result.far_transport = preference::ucx;
  if (separator == "udp") result.far_transport = preference::udp;
  return result;
}

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config& configuration) {
  return std::make_unique<local_fabric>(ranks, read_settings(configuration));
}

std::unique_ptr<fabric> join_job(const config& configuration, const program& program) {
  settings settings = read_settings(configuration);
  settings.tcp.join.handlers = program.handlers;  // all ranks connect by sockets first, with the options of tcp
  if (settings.far_transport == preference::either && ucx::has_module(settings.ucx.modules) &&
      net::find_rdma_device()) {
    settings.far_transport = preference::with_rdma;
  }
  return auto_transport::join_job(std::move(settings));
}

}  // namespace

backend make_backend() noexcept {
  return {.name = "auto",
          .help =
              "shm among the ranks of one host, tcp, udp or ucx between hosts; start them with nacre run or srun "
              "--mpi=pmix",
          .options = options,
          .virtual_time = false,
          .make_local = make_local,
          .join_job = join_job};
}

}  // namespace nacre::transport::auto_transport
