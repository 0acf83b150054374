// SPDX-License-Identifier: Apache-2.0
// What the tests of the handshake share: two jobs, a wire between two sides, and a forger that holds the secret.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/auth.hpp"

namespace nacre::test {

inline job_secret secret_of(char digit) { return *job_secret::from_hex(std::string(64, digit)); }
inline job_secret secret_one() { return secret_of('1'); }
inline job_secret secret_two() { return secret_of('2'); }

/// Rank `rank` of a job of four.
inline peer_identity identity_of(std::uint32_t rank) {
  return {.rank = rank_id{rank}, .size = 4, .binary = 0x0123456789abcdef, .handlers = 0xaa, .address = "10.0.0.7:4242"};
}

inline std::size_t message_bytes(std::size_t body_bytes) { return handshake_head::size_bytes + body_bytes; }

/// All that `from` has to send, which counts as sent.
inline std::vector<std::byte> take_all(handshake& from) {
  const auto bytes = from.to_send();
  std::vector<std::byte> taken(bytes.begin(), bytes.end());
  from.sent(taken.size());
  return taken;
}

inline void feed(handshake& to, std::span<const std::byte> bytes) { to.on_bytes(bytes); }
inline void feed(handshake& to, std::string_view text) { feed(to, std::as_bytes(std::span(text))); }

/// Moves what `from` has to send, in pieces of at most `piece` bytes. Returns whether there was anything.
inline bool deliver(handshake& from, handshake& to, std::size_t piece = SIZE_MAX) {
  const std::vector<std::byte> bytes = take_all(from);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t count = std::min(piece, bytes.size() - at);
    feed(to, std::span(bytes).subspan(at, count));
    at += count;
  }
  return !bytes.empty();
}

/// Lets both talk until neither has anything left to say.
inline void converse(handshake& a, handshake& b, std::size_t piece = SIZE_MAX) {
  while (deliver(a, b, piece) || deliver(b, a, piece)) {
  }
}

/// A message as it travels.
inline std::vector<std::byte> message_of(handshake_step step, std::span<const std::byte> body) {
  const handshake_head head{
      .protocol = wire_protocol_version, .step = step, .body_bytes = static_cast<std::uint32_t>(body.size())};
  std::vector<std::byte> bytes = pack(head);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

/// `identity`, any bytes, with the proof that `secret` gives for it in the conversation `said`.
inline std::vector<std::byte> identity_message(const job_secret& secret, handshake_step step, handshake_transcript said,
                                               std::vector<std::byte> identity) {
  (step == handshake_step::acceptor_identity ? said.acceptor_identity : said.initiator_identity) = identity;
  const job_secret::proof proof = prove_step(secret, step, said);
  identity.insert(identity.end(), proof.begin(), proof.end());
  return message_of(step, identity);
}
inline std::vector<std::byte> identity_message(const job_secret& secret, handshake_step step,
                                               const handshake_transcript& said, const peer_identity& identity) {
  return identity_message(secret, step, said, pack(identity));
}

/// An initiator that knows the secret but says whatever a test wants. `victim` is an acceptor of secret_one().
class forger {
 public:
  explicit forger(handshake& victim) : victim_(victim) {
    said_.protocol = wire_protocol_version;
    const std::vector<std::byte> challenge = take_all(victim);
    std::copy_n(challenge.begin() + handshake_head::size_bytes, 32, said_.acceptor_nonce.begin());
    const job_secret::proof proof = prove_step(secret_one(), handshake_step::response, said_);
    std::vector<std::byte> body(said_.initiator_nonce.begin(), said_.initiator_nonce.end());
    body.insert(body.end(), proof.begin(), proof.end());
    feed(victim_, message_of(handshake_step::response, body));
    const std::vector<std::byte> identity = take_all(victim);
    said_.acceptor_identity.assign(identity.begin() + handshake_head::size_bytes, identity.end() - 32);
  }

  /// Sends `identity` with a valid proof.
  void prove_identity(std::vector<std::byte> identity) {
    feed(victim_, identity_message(secret_one(), handshake_step::initiator_identity, said_, std::move(identity)));
  }

  [[nodiscard]] const handshake_transcript& said() const { return said_; }

 private:
  handshake& victim_;
  handshake_transcript said_;
};

/// Why rank 0 of identity_of's job refuses the proven member `peer`.
inline refusal refusal_at_acceptor(const peer_identity& peer) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), peer);
  converse(acceptor, initiator);
  return acceptor.status() == handshake_status::refused ? acceptor.why() : refusal{};
}

}  // namespace nacre::test
