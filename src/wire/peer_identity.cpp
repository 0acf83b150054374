// SPDX-License-Identifier: Apache-2.0
// Compares two members of a job, and puts the differences into words.
#include "wire/peer_identity.hpp"

#include <fmt/format.h>

namespace nacre {

std::string refusal::log_line(std::string_view peer_address) const {
  if (reason == refusal_reason::closed || reason == refusal_reason::timed_out) {
    return fmt::format("gave up on a peer at {}: {}", peer_address, explanation);
  }
  if (reason == refusal_reason::unreachable) return fmt::format("no connection to {}: {}", peer_address, explanation);
  if (by_peer) return fmt::format("was refused by a peer at {}: {}", peer_address, explanation);
  return fmt::format("refused a peer at {}: {}", peer_address, explanation);
}

std::optional<refusal> judge(const peer_identity& local, const peer_identity& peer, std::optional<rank_id> expected) {
  const auto refuse = [](refusal_reason reason, std::string cause) {
    return refusal{.reason = reason, .explanation = std::move(cause)};
  };
  if (peer.binary != local.binary) {
    return refuse(
        refusal_reason::other_binary,
        fmt::format("it runs another binary{} (fingerprint {:016x}, here {:016x}); start every rank from the "
                    "same executable",
                    peer.handlers == local.handlers ? "" : " with other handlers", peer.binary, local.binary));
  }
  if (peer.handlers != local.handlers) {
    return refuse(
        refusal_reason::other_binary,
        fmt::format("it has other handlers (handler table {:016x}, here {:016x}); rebuild, and start every rank "
                    "from the same executable with the same libraries",
                    peer.handlers, local.handlers));
  }
  if (peer.size != local.size) {
    return refuse(refusal_reason::other_job_size,
                  fmt::format("it counts {} ranks in the job, here {}", peer.size, local.size));
  }
  if (peer.rank.value() >= local.size) {
    return refuse(refusal_reason::bad_rank, fmt::format("it says it is rank {} of {}", peer.rank.value(), local.size));
  }
  if (peer.rank == local.rank) {
    return refuse(refusal_reason::bad_rank, fmt::format("it says it is rank {}, which is this one", peer.rank.value()));
  }
  if (peer.connections != local.connections) {
    return refuse(refusal_reason::other_connections,
                  fmt::format("it makes {} connections with each rank, here {}; start every rank with the same options",
                              peer.connections, local.connections));
  }
  if (peer.connection >= local.connections) {
    return refuse(refusal_reason::other_connections,
                  fmt::format("it says this is connection {} of {}", peer.connection, local.connections));
  }
  if (expected && peer.rank != *expected) {
    return refuse(refusal_reason::bad_rank,
                  fmt::format("it is rank {}, expected {}", peer.rank.value(), expected->value()));
  }
  return std::nullopt;
}

}  // namespace nacre
