// SPDX-License-Identifier: Apache-2.0
// The messages of a handshake as bytes, and the statement that each proof covers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/job_secret.hpp"

namespace nacre {

/// The messages, in the order in which they travel. The number is part of every head and of every proof.
enum class handshake_step : std::uint8_t {
  challenge = 1,           ///< acceptor: nonce
  response = 2,            ///< initiator: nonce, proof
  acceptor_identity = 3,   ///< acceptor: identity, proof
  initiator_identity = 4,  ///< initiator: identity, proof
  verdict = 5              ///< acceptor: refusal_reason (none: accepted), proof
};

/// The head of every message. Its first six bytes keep their meaning in all versions of the protocol.
struct handshake_head {
  static constexpr std::uint32_t magic_word = 0x7263616e;  // "nacr"
  static constexpr std::size_t size_bytes = 12;

  std::uint32_t magic = magic_word;
  std::uint16_t protocol = 0;
  handshake_step step = handshake_step::challenge;
  std::uint8_t reserved = 0;
  std::uint32_t body_bytes = 0;
};
static_assert(sizeof(handshake_head) == handshake_head::size_bytes, "no padding");

/// The largest message of a handshake, head included. An identity takes at most 285 bytes, its proof 32.
inline constexpr std::size_t handshake_message_bytes_max = 384;

using handshake_nonce = std::array<std::byte, 32>;

/// The contents of all messages that both sides have sent so far, as bytes. A field is empty until it has been sent.
struct handshake_transcript {
  std::uint16_t protocol = 0;
  handshake_nonce acceptor_nonce{};
  handshake_nonce initiator_nonce{};
  std::vector<std::byte> acceptor_identity{};
  std::vector<std::byte> initiator_identity{};
  std::uint8_t verdict = 0;
};

/// The proof that belongs to the message `step`. It covers `said` and the step, and with the step the sender's role.
[[nodiscard]] job_secret::proof prove_step(const job_secret& secret, handshake_step step,
                                           const handshake_transcript& said);

/// Whether `claim` is prove_step(...). Compares in constant time.
[[nodiscard]] bool verify_step(const job_secret& secret, handshake_step step, const handshake_transcript& said,
                               std::span<const std::byte, 32> claim);

}  // namespace nacre
