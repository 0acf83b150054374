// SPDX-License-Identifier: Apache-2.0
// Calls one listening socket and waits until both sides have proven themselves.
#include "join/net/call.hpp"

#include <cerrno>
#include <chrono>
#include <utility>

#include "join/net/wait.hpp"

namespace nacre::net {

namespace {

using std::chrono::steady_clock;

expected<peer_candidate, refusal> call_once(const address& address, const caller& self, time_point deadline) {
  unique_fd socket = start_connect(address);
  if (!socket) return unexpected(refusal{.reason = refusal_reason::unreachable, .explanation = error_text(errno)});
  socket_handshake attempt = socket_handshake::of_caller(
      std::move(socket), address, handshake(handshake_role::initiator, self.secret, self.local, self.expected),
      deadline);
  for (;;) {
    switch (attempt.advance(steady_clock::now())) {
      case socket_handshake::outcome::pending:
        break;
      case socket_handshake::outcome::accepted:
        return attempt.take();
      case socket_handshake::outcome::refused:
        return unexpected(attempt.why());
    }
    wait_until(attempt.descriptor(), attempt.wants_to_write(), deadline);
  }
}

}  // namespace

expected<peer_candidate, refusal> call(const address& address, const caller& self, time_point deadline,
                                       std::chrono::milliseconds patience) {
  for (int attempts = 1;; ++attempts) {
    auto result = call_once(address, self, steady_clock::now() + patience);
    const bool unanswered = !result && result.error().reason == refusal_reason::timed_out;
    if (!unanswered || (attempts > 1 && steady_clock::now() >= deadline)) return result;
  }
}

}  // namespace nacre::net
