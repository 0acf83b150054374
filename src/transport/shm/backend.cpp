// SPDX-License-Identifier: Apache-2.0
// The row of the backend shm and its options.
#include "transport/shm/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "join/launch/member.hpp"
#include "transport/shm/fabric.hpp"

namespace nacre::transport::shm {
namespace {

constexpr std::array options{
    launch::connect_timeout_option("shm.connect_timeout"),
    option{.name = "shm.ring_bytes",
           .kind = option_kind::bytes,
           .default_value = "128KiB",
           .range = "4KiB..64MiB",
           .help =
               "Data in the ring from one rank to another on one channel, rounded to a power of two; a quarter more "
               "goes to its slots"},
    option{.name = "shm.memory_max",
           .kind = option_kind::bytes,
           .default_value = "16MiB",
           .range = "64KiB..64GiB",
           .help = "What all rings that lead to one rank may take, if every peer uses every channel; with many ranks "
                   "the rings become smaller, down to 4KiB"},
    option{.name = "shm.output_max",
           .kind = option_kind::bytes,
           .default_value = "8MiB",
           .range = "64KiB..1GiB",
           .help = "What may wait to be read by one peer on one channel, beyond its ring, before its senders are "
                   "slowed; one message may exceed it"},
    option{.name = "shm.single_copy",
           .kind = option_kind::boolean,
           .default_value = "true",
           .help = "Long payloads stay with their sender until the receiver reads them from its memory, where the "
                   "kernel permits; otherwise they go through the ring in fragments"},
    option{.name = "shm.single_copy_min",
           .kind = option_kind::bytes,
           .default_value = "16KiB",
           .range = "1KiB..1GiB",
           .help = "How long such a payload is at least"},
};

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config& configuration) {
  return std::make_unique<local_fabric>(ranks, read_settings(configuration));
}

std::unique_ptr<fabric> join_job(const config& configuration, const program& program) {
  settings settings = read_settings(configuration);
  settings.join.handlers = program.handlers;
  return shm::join_job(settings);
}

}  // namespace

settings read_settings(const config& configuration) {
  if (!configuration.is_declared("shm.output_max")) return {};
  return {.join = {.connect_timeout = configuration.get_duration("shm.connect_timeout"),
                   .time_option = "shm.connect_timeout",
                   .on_loopback = true},
          .ring_bytes = static_cast<std::uint64_t>(configuration.get_int("shm.ring_bytes")),
          .memory_max = static_cast<std::uint64_t>(configuration.get_int("shm.memory_max")),
          .output_max = static_cast<std::size_t>(configuration.get_int("shm.output_max")),
          .single_copy = configuration.get_bool("shm.single_copy"),
          .single_copy_min = static_cast<std::size_t>(configuration.get_int("shm.single_copy_min"))};
}

backend make_backend() noexcept {
  return {.name = "shm",
          .help = "ranks are processes of one host that share memory; start them with nacre run or srun --mpi=pmix",
          .options = options,
          .virtual_time = false,
          .make_local = make_local,
          .join_job = join_job};
}

}  // namespace nacre::transport::shm
