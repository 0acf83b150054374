// SPDX-License-Identifier: Apache-2.0
// The row of the backend ucx and its options.
#include "transport/ucx/ucx.hpp"

#include <array>
#include <memory>

#include "transport/launch/foreign_launcher.hpp"
#include "transport/launch/job_ticket.hpp"
#include "transport/ucx/fabric.hpp"
#include "transport/ucx/loader.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr std::array options{
    option{.name = "ucx.connect_timeout",
           .kind = option_kind::duration,
           .default_value = "30s",
           .range = "10ms..1000s",
           .help = "How long a rank waits for all others when the job begins"},
    option{.name = "ucx.output_max",
           .kind = option_kind::bytes,
           .default_value = "8MiB",
           .range = "64KiB..1GiB",
           .help =
               "What may be under way to one peer on one channel, and as much may wait behind it, before its senders "
               "are slowed; one message may exceed it"},
    option{.name = "ucx.interface",
           .kind = option_kind::text,
           .default_value = "",
           .help = "Network interface, or its address, at which a rank of a job with several hosts meets the others; "
                   "empty as for tcp. What UCX itself uses is said by UCX_NET_DEVICES"},
    option{.name = "ucx.modules",
           .kind = option_kind::text,
           .unit = "folder",
           .help = "Where nacre_ucx.so is; empty looks beside the program and where Nacre was installed"},
};

settings read_settings(const config& configuration) {
  return {.connect_timeout = configuration.get_duration("ucx.connect_timeout"),
          .output_bytes_max = static_cast<std::size_t>(configuration.get_int("ucx.output_max")),
          .interface = configuration.get_string("ucx.interface")};
}

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config& configuration) {
  return std::make_unique<local_fabric>(ranks, load_library(configuration.get_string("ucx.modules")),
                                        read_settings(configuration));
}

std::unique_ptr<fabric> join_job(const config& configuration, const program& own) {
  library& here = load_library(configuration.get_string("ucx.modules"));
  settings how = read_settings(configuration);
  how.handlers = own.handlers;
  if (started_by_pmix()) return std::make_unique<job_fabric>(here, how);
  return std::make_unique<job_fabric>(launch::take_job_ticket(), here, how);
}

}  // namespace

backend make_backend() noexcept {
  return {.name = "ucx",
          .help =
              "ranks are processes that talk by UCX, over whatever a cluster has; start them with nacre run or srun "
              "--mpi=pmix",
          .options = options,
          .make_local = make_local,
          .join_job = join_job};
}

}  // namespace nacre::transport::ucx
