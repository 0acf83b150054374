// SPDX-License-Identifier: Apache-2.0
// Mutual authentication of two processes of one job, as a state machine without I/O.
//
// | state           | role      | takes                 | then                                                |
// |-----------------|-----------|-----------------------|-----------------------------------------------------|
// | (start)         | acceptor  |                       | sends challenge; await_response                     |
// | (start)         | initiator |                       | await_challenge                                     |
// | await_challenge | initiator | challenge(Na)         | sends response(Ni, proof); await_identity           |
// | await_response  | acceptor  | response              | sends identity(Ia, proof); await_identity           |
// | await_identity  | initiator | identity of acceptor  | sends identity(Ii, proof); refused or await_verdict |
// | await_identity  | acceptor  | identity of initiator | sends verdict(proof); accepted or refused           |
// | await_verdict   | initiator | verdict               | accepted or refused                                 |
// | any             | both      | anything else         | refused, nothing is sent                            |
//
// Invariants:
// - The secret never travels.
// - An acceptor sends its identity only after the peer's response has proven the secret.
// - Every proof covers its step (and so the sender's role), both fresh nonces and the identities exchanged so far. So
//   no proof is valid in another place, direction or connection.
// - Until a peer has proven the secret, an acceptor keeps nothing of it but the message being received. That takes at
//   most handshake_message_bytes_max bytes, in memory that the acceptor has anyway.
//
// The pattern is the three-pass mutual authentication of ISO/IEC 9798-4, with two additions: the proofs cover the
// identities, and a verdict tells the initiator why it was refused. The handshake authenticates the beginning of a
// connection. The bytes that follow are neither encrypted nor authenticated, so it does not keep out an attacker that
// can alter packets on the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/handshake_format.hpp"
#include "wire/job_secret.hpp"
#include "wire/peer_identity.hpp"

namespace nacre {

/// The initiator opened the connection, the acceptor accepted it.
enum class handshake_role : std::uint8_t { initiator, acceptor };

enum class handshake_status {
  need_more,  ///< send the bytes of to_send(), then wait for bytes
  accepted,   ///< send the bytes of to_send(); the connection then belongs to the job
  refused     ///< send the bytes of to_send(), then close
};

/// The time that the caller should wait for the whole handshake before it calls on_timeout(). The time is long because
/// hundreds of ranks that start on a few cores delay each other for many seconds. Meanwhile strangers that send nothing
/// give way to members (net::listener).
inline constexpr std::uint32_t handshake_time_ms_max = 30'000;

/// One side of one handshake. The caller moves the bytes and watches the time:
///
///   handshake side(handshake_role::acceptor, secret, local);
///   write to_send(), call sent(n); read bytes, pass them to on_bytes(); until the status is no longer need_more.
///
/// Uses about 2 KB. Not thread-safe.
class handshake {
 public:
  /// `local` is this process; its address must satisfy peer_identity::is_address. `expected` is the rank that the peer
  /// must have. Throws setup_error when the system has no random numbers.
  handshake(handshake_role role, const job_secret& secret, peer_identity local,
            std::optional<rank_id> expected = std::nullopt);

  /// Takes bytes from the peer, in pieces of any size, off the front of `bytes`. Bytes that are left there once the
  /// status is `accepted` are not part of the handshake and belong to the caller.
  handshake_status on_bytes(std::span<const std::byte>& bytes);
  /// To be called when the connection has ended or failed. Does nothing once the handshake is over.
  void on_closed();
  /// To be called when there is no connection. Does nothing once the handshake is over.
  void on_unreachable(std::string cause);
  /// To be called when the caller stops waiting. Does nothing once the handshake is over.
  void on_timeout();

  /// Bytes that wait to be sent; valid until the next call of a non-const member.
  [[nodiscard]] std::span<const std::byte> to_send() const noexcept;
  /// Takes `bytes` bytes, at most to_send().size(), off the front of to_send().
  void sent(std::size_t bytes);

  [[nodiscard]] handshake_status status() const noexcept;
  /// The peer's identity; only once it is `accepted`.
  [[nodiscard]] const peer_identity& peer() const;
  /// Why there is no peer; only once it is `refused`.
  [[nodiscard]] const refusal& why() const;

 private:
  enum class state : std::uint8_t { await_challenge, await_response, await_identity, await_verdict, accepted, refused };
  using bytes_view = std::span<const std::byte>;

  [[nodiscard]] bool over() const noexcept { return state_ == state::accepted || state_ == state::refused; }
  [[nodiscard]] handshake_step awaited() const noexcept;
  void check_head();
  void on_message(bytes_view body);
  void on_challenge(bytes_view body);
  void on_response(bytes_view body);
  void on_acceptor_identity(bytes_view body);
  void on_initiator_identity(bytes_view body);
  void on_verdict(bytes_view body);
  [[nodiscard]] bool take_identity(handshake_step step, bytes_view body, std::vector<std::byte>& kept);
  void send(handshake_step step, bytes_view body);
  void send_identity(handshake_step step, bytes_view identity);
  void refuse(refusal_reason reason, std::string cause);

  job_secret secret_;
  peer_identity local_;
  peer_identity peer_;
  std::optional<rank_id> expected_;
  refusal refusal_;
  handshake_transcript transcript_;
  handshake_role role_;
  state state_;
  std::size_t received_ = 0;  // bytes of the message that is being received
  std::size_t unsent_begin_ = 0;
  std::size_t unsent_end_ = 0;
  std::array<std::byte, handshake_message_bytes_max> incoming_;
  std::array<std::byte, 3 * handshake_message_bytes_max> outgoing_;  // neither side sends more than three messages
};

}  // namespace nacre
