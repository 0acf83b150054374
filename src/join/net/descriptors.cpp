// SPDX-License-Identifier: Apache-2.0
// The limit of files and sockets that this process may have open.
#include "join/net/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>

#include <nacre/error.hpp>

namespace nacre::net {
namespace {

constexpr rlim_t for_everything_else = 256;  // handshakes under way, epoll, pipes, libraries, the program's own files

}  // namespace

void allow_descriptors(std::size_t count, std::string_view otherwise) {
  rlimit limit{};
  const rlim_t needed = count + for_everything_else;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const bool sufficed = limit.rlim_cur >= needed;
  if (limit.rlim_max >= needed && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = std::max(needed, limit.rlim_cur + std::min<rlim_t>(count, limit.rlim_max - limit.rlim_cur));
    if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  }
  if (sufficed) return;
  throw setup_error(
      {.problem =
           fmt::format("this process may open {} files, and its connections alone are {}", limit.rlim_max, count),
       .why = "every rank is connected with every other",
       .remedy = fmt::format("raise the limit of open files to {} (ulimit -Hn), or {}", needed, otherwise)});
}

}  // namespace nacre::net
