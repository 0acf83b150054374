// SPDX-License-Identifier: Apache-2.0
// Calls one listening socket and waits until both sides have proven themselves.
#include "transport/net/call.hpp"

#include <cerrno>
#include <chrono>
#include <utility>

#include "transport/net/wait.hpp"

namespace nacre::transport::net {

expected<guest, refusal> call(const address& where, handshake how, time_point deadline) {
  unique_fd socket = start_connect(where);
  if (!socket) return unexpected(refusal{.reason = refusal_reason::closed, .why = error_text(errno)});
  greeting caller = greeting::of_caller(std::move(socket), std::move(how), deadline);
  for (;;) {
    switch (caller.advance(std::chrono::steady_clock::now())) {
      case greeting::outcome::pending:
        break;
      case greeting::outcome::accepted:
        return caller.take();
      case greeting::outcome::refused:
        return unexpected(caller.why());
    }
    wait_until(caller.descriptor(), caller.wants_to_write(), deadline);
  }
}

}  // namespace nacre::transport::net
