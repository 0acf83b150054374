// SPDX-License-Identifier: Apache-2.0
// The statement under each proof of a handshake.
#include "wire/handshake_format.hpp"

#include <algorithm>
#include <string_view>

#include <nacre/archive.hpp>

namespace nacre {

namespace {

/// A statement in memory of its own, so that a peer that has proven nothing causes no allocation.
struct statement {
  std::array<std::byte, 2 * handshake_message_bytes_max + 128> memory;
  std::size_t bytes = 0;

  [[nodiscard]] std::span<const std::byte> view() const { return {memory.data(), bytes}; }
};

/// The length stands in front of each part of variable length, so that no two transcripts give the same statement.
statement state_for(handshake_step step, const handshake_transcript& said) {
  statement result;
  writer writer{std::span<std::byte>(result.memory)};
  writer(std::string_view("nacre handshake"), said.protocol, step, said.verdict);
  writer(said.acceptor_nonce, said.initiator_nonce, said.acceptor_identity, said.initiator_identity);
  result.bytes = writer.size();
  return result;
}

}  // namespace

job_secret::proof prove_step(const job_secret& secret, handshake_step step, const handshake_transcript& said) {
  return secret.prove(state_for(step, said).view());
}

bool verify_step(const job_secret& secret, handshake_step step, const handshake_transcript& said,
                 std::span<const std::byte, 32> claim) {
  job_secret::proof claimed;
  std::copy(claim.begin(), claim.end(), claimed.begin());
  return secret.verify(state_for(step, said).view(), claimed);
}

}  // namespace nacre
