// SPDX-License-Identifier: Apache-2.0
// The row of the backend ucx and its options.
#include "transport/ucx/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/member_fabric.hpp"
#include "transport/ucx/fabric.hpp"
#include "transport/ucx/loader.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr std::array options{
    launch::connect_timeout_option("ucx.connect_timeout"),
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

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config& configuration) {
  return std::make_unique<local_fabric>(ranks, read_settings(configuration));
}

std::unique_ptr<fabric> join_job(const config& configuration, const program& program) {
  settings settings = read_settings(configuration);
  settings.join.handlers = program.handlers;
  static_cast<void>(
      load_library(settings.modules));  // before this rank joins: without the module it has nothing to send
  return std::make_unique<member_fabric>(
      settings.join, [settings](launch::joined_rank rank) { return endpoint_of(std::move(rank), settings); });
}

}  // namespace

settings read_settings(const config& configuration) {
  if (!configuration.is_declared("ucx.output_max")) return {};
  return {.join = {.connect_timeout = configuration.get_duration("ucx.connect_timeout"),
                   .time_option = "ucx.connect_timeout",
                   .interface = configuration.get_string("ucx.interface")},
          .output_bytes_max = static_cast<std::size_t>(configuration.get_int("ucx.output_max")),
          .modules = configuration.get_string("ucx.modules")};
}

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
