// SPDX-License-Identifier: Apache-2.0
// Liveness sockets: by them ranks in one process notice each other's end, as ranks of several processes do.
#include "join/net/liveness_sockets.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include <nacre/error.hpp>

#include "join/net/descriptors.hpp"

namespace nacre::net {

std::vector<std::vector<unique_fd>> make_liveness_sockets(std::uint32_t ranks) {
  allow_descriptors(std::size_t{ranks} * (ranks - 1), "start fewer ranks");
  std::vector<std::vector<unique_fd>> result(ranks);
  for (auto& of_rank : result) of_rank.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t peer = 0; peer < rank; ++peer) {
      std::array<int, 2> ends{-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw setup_error({.problem = "cannot connect two ranks: " + error_text(errno),
                           .why = "each notices the end of the other by it",
                           .remedy = "raise the limit of open files (ulimit -n), or start fewer ranks"});
      }
      result[rank][peer].reset(ends[0]);
      result[peer][rank].reset(ends[1]);
    }
  }
  return result;
}

}  // namespace nacre::net
