// SPDX-License-Identifier: Apache-2.0
// Waits for the first bytes of a peer, and for the launcher, which may end the job meanwhile.
#include "transport/first_words.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "join/launch/failure.hpp"
#include "join/net/socket.hpp"
#include "join/net/wait.hpp"

namespace nacre::transport {

first_words receive_first_words(std::span<std::byte> target, const net::peer_candidate& peer_candidate,
                                launch::launcher_connection* launcher, net::time_point deadline) {
  std::size_t got = std::min(peer_candidate.leftover.size(), target.size());
  std::copy_n(peer_candidate.leftover.begin(), got, target.begin());
  while (got < target.size()) {
    const std::ptrdiff_t more =
        net::receive_some(peer_candidate.socket.get(), target.data() + got, target.size() - got);
    if (more < 0) return first_words::closed;
    got += static_cast<std::size_t>(more);
    if (more > 0) continue;
    if (launcher != nullptr) {
      if (const auto aborted = launcher->poll()) throw launch::job_aborted(launch::aborted_text(*aborted));
    }
    if (std::chrono::steady_clock::now() >= deadline) return first_words::late;
    std::array<pollfd, 2> watched{
        {{.fd = peer_candidate.socket.get(), .events = POLLIN, .revents = 0},
         {.fd = launcher == nullptr ? -1 : launcher->descriptor(), .events = POLLIN, .revents = 0}}};
    net::wait_until(watched, deadline);
  }
  return first_words::complete;
}

}  // namespace nacre::transport
