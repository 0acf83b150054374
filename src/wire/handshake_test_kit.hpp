// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the handshake: two jobs, a wire between two sides, and a forger that holds the secret.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// The identity of rank `rank` in a job of four.
inline peer_identity identity_of(std::uint32_t rank) {
  return {.rank = rank_id{rank}, .size = 4, .binary = 0x0123456789abcdef, .handlers = 0xaa, .address = "10.0.0.7:4242"};
}

inline std::size_t message_bytes(std::size_t body_bytes) { return handshake_head::size_bytes + body_bytes; }

/// Returns all bytes that `handshake` has to send, and marks them as sent.
inline std::vector<std::byte> take_all(handshake& handshake) {
  const auto bytes = handshake.to_send();
  std::vector<std::byte> taken(bytes.begin(), bytes.end());
  handshake.sent(taken.size());
  return taken;
}

inline void feed(handshake& handshake, std::span<const std::byte> bytes) { handshake.on_bytes(bytes); }
inline void feed(handshake& handshake, std::string_view text) { feed(handshake, std::as_bytes(std::span(text))); }

/// Moves the bytes that `source` has to send, at most `piece` at a time. Returns whether there were any.
inline bool deliver(handshake& source, handshake& target, std::size_t piece = SIZE_MAX) {
  const std::vector<std::byte> bytes = take_all(source);
  for (std::size_t index = 0; index < bytes.size();) {
    const std::size_t count = std::min(piece, bytes.size() - index);
    feed(target, std::span(bytes).subspan(index, count));
    index += count;
  }
  return !bytes.empty();
}

/// Moves bytes both ways until neither side has any left to send.
inline void converse(handshake& a, handshake& b, std::size_t piece = SIZE_MAX) {
  while (deliver(a, b, piece) || deliver(b, a, piece)) {
  }
}

/// A message in the form in which it travels: head and body.
inline std::vector<std::byte> message_of(handshake_step step, std::span<const std::byte> body) {
  const handshake_head head{
      .protocol = wire_protocol_version, .step = step, .body_bytes = static_cast<std::uint32_t>(body.size())};
  std::vector<std::byte> bytes = pack(head);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

/// The nonce at the front of the body of `message`; zeros when the body is too short for one.
inline handshake_nonce nonce_in(std::span<const std::byte> message) {
  handshake_nonce nonce{};
  if (message.size() >= message_bytes(nonce.size())) {
    std::memcpy(nonce.data(), message.data() + handshake_head::size_bytes, nonce.size());
  }
  return nonce;
}

/// The message that carries `identity`, any bytes, with the proof that `secret` gives for it after the messages `said`.
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

/// A peer that knows the secret but sends any identity that a test wants. Its `victim` holds secret_one().
class forger {
 public:
  /// Brings the victim to the point where it awaits an identity.
  explicit forger(handshake& victim, handshake_role victim_role) : victim_(victim), victim_role_(victim_role) {
    said_.protocol = wire_protocol_version;
    if (victim_role_ == handshake_role::initiator) {
      feed(victim_, message_of(handshake_step::challenge, said_.acceptor_nonce));
      const std::vector<std::byte> response = take_all(victim_);
      said_.initiator_nonce = nonce_in(response);
      return;
    }
    const std::vector<std::byte> challenge = take_all(victim_);
    said_.acceptor_nonce = nonce_in(challenge);
    const job_secret::proof proof = prove_step(secret_one(), handshake_step::response, said_);
    std::vector<std::byte> body(said_.initiator_nonce.begin(), said_.initiator_nonce.end());
    body.insert(body.end(), proof.begin(), proof.end());
    feed(victim_, message_of(handshake_step::response, body));
    const std::vector<std::byte> identity = take_all(victim_);
    said_.acceptor_identity.assign(identity.begin() + handshake_head::size_bytes, identity.end() - 32);
  }

  /// Sends `identity`, any bytes, with a valid proof.
  void prove_identity(std::vector<std::byte> identity) {
    const bool as_acceptor = victim_role_ == handshake_role::initiator;
    const auto step = as_acceptor ? handshake_step::acceptor_identity : handshake_step::initiator_identity;
    feed(victim_, identity_message(secret_one(), step, said_, std::move(identity)));
  }

 private:
  handshake& victim_;
  handshake_role victim_role_;
  handshake_transcript said_;
};

/// The refusals that both sides of a failed handshake report; empty for a side that has not refused.
struct refusals {
  refusal of_acceptor;
  refusal of_initiator;
};

/// Lets `peer` call rank 0 of identity_of's job, and returns how the two refuse each other.
inline refusals refusals_with(const peer_identity& peer, const job_secret& secret_of_peer = secret_one()) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_of_peer, peer);
  converse(acceptor, initiator);
  const auto words_of = [](const handshake& side) {
    return side.status() == handshake_status::refused ? side.why() : refusal{};
  };
  return {.of_acceptor = words_of(acceptor), .of_initiator = words_of(initiator)};
}
inline refusal refusal_at_acceptor(const peer_identity& peer) { return refusals_with(peer).of_acceptor; }

}  // namespace nacre::test
