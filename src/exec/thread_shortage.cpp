// SPDX-License-Identifier: Apache-2.0
// The error for a user when the system starts no more threads.
#include "exec/thread_shortage.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace nacre {

setup_error thread_shortage(std::uint64_t started, std::uint64_t wanted, const std::exception& thrown) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr;
  return setup_error(
      {.problem = "only " + std::to_string(started) + " of " + std::to_string(wanted) +
                  " threads could be started: " + (memory ? std::strerror(ENOMEM) : thrown.what()),
       .why = "a rank has one for each worker, and one or two more",
       .remedy = "choose fewer with --nacre.workers or --nacre.ranks, or raise the limits of processes and of memory "
                 "(ulimit -u, ulimit -v)"});
}

}  // namespace nacre
