// SPDX-License-Identifier: Apache-2.0
// The handshake's transitions.
#include "wire/auth.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <nacre/assert.hpp>

namespace nacre {

namespace {

constexpr std::size_t nonce_bytes = sizeof(handshake_nonce);
constexpr std::size_t proof_bytes = sizeof(job_secret::proof);
constexpr const char* unproven = "it could not prove the job's secret";

/// The shortest and the longest body that a step may have, in bytes.
std::pair<std::size_t, std::size_t> body_bounds(handshake_step step) {
  switch (step) {
    case handshake_step::challenge:
      return {nonce_bytes, nonce_bytes};
    case handshake_step::response:
      return {nonce_bytes + proof_bytes, nonce_bytes + proof_bytes};
    case handshake_step::verdict:
      return {1 + proof_bytes, 1 + proof_bytes};
    default:
      return {proof_bytes + 1, handshake_message_bytes_max - handshake_head::size_bytes};
  }
}

std::string verdict_words(refusal_reason reason, const peer_identity& local) {
  switch (reason) {
    case refusal_reason::bad_rank:
      return fmt::format("it does not want rank {} here", local.rank.value());
    case refusal_reason::other_binary:
      return "it runs another binary, or has other handlers";
    case refusal_reason::other_job_size:
      return "it counts another number of ranks in the job";
    case refusal_reason::other_connections:
      return fmt::format("it does not make {} connections with each rank; start every rank with the same options",
                         local.connections);
    default:
      return fmt::format("it gave reason {}", static_cast<unsigned>(reason));
  }
}

}  // namespace

handshake::handshake(handshake_role role, const job_secret& secret, peer_identity local,
                     std::optional<rank_id> expected)
    : secret_(secret), local_(std::move(local)), expected_(expected), role_(role), state_(state::await_challenge) {
  NACRE_EXPECT(peer_identity::is_address(local_.address), "a rank's address is short and printable");
  transcript_.protocol = local_.protocol;
  if (role_ == handshake_role::initiator) {
    fill_random(transcript_.initiator_nonce);
    return;
  }
  fill_random(transcript_.acceptor_nonce);
  send(handshake_step::challenge, transcript_.acceptor_nonce);
  state_ = state::await_response;
}

handshake_status handshake::on_bytes(std::span<const std::byte>& bytes) {
  while (!bytes.empty() && !over()) {
    std::size_t wanted = handshake_head::size_bytes;
    if (received_ >= wanted) {
      handshake_head head;
      std::memcpy(&head, incoming_.data(), sizeof head);
      wanted += head.body_bytes;
    }
    const std::size_t taken = std::min(bytes.size(), wanted - received_);
    std::memcpy(incoming_.data() + received_, bytes.data(), taken);
    received_ += taken;
    bytes = bytes.subspan(taken);
    if (received_ <= handshake_head::size_bytes) {
      check_head();
    } else if (received_ == wanted) {
      received_ = 0;
      on_message(bytes_view(incoming_).subspan(handshake_head::size_bytes, wanted - handshake_head::size_bytes));
    }
  }
  return status();
}

/// Refuses as soon as the bytes so far cannot begin the awaited message, so that we never wait for the rest of garbage.
void handshake::check_head() {
  handshake_head head;
  const std::size_t magic_bytes = std::min(received_, sizeof head.magic);
  if (std::memcmp(incoming_.data(), &head.magic, magic_bytes) != 0) {
    return refuse(refusal_reason::malformed, "it does not speak nacre's handshake");
  }
  if (received_ < handshake_head::size_bytes) return;
  std::memcpy(&head, incoming_.data(), sizeof head);
  if (head.protocol != local_.protocol) {
    // An empty response tells the acceptor our version, so that it can log the same reason.
    if (state_ == state::await_challenge) send(handshake_step::response, {});
    return refuse(
        refusal_reason::other_protocol_version,
        fmt::format("it speaks version {} of the protocol, here {}; start every rank from the same executable",
                    head.protocol, local_.protocol));
  }
  const auto [shortest, longest] = body_bounds(awaited());
  if (head.step != awaited() || head.reserved != 0 || head.body_bytes < shortest || head.body_bytes > longest) {
    refuse(refusal_reason::malformed, "its handshake has a message out of place or out of bounds");
  }
}

handshake_step handshake::awaited() const noexcept {
  switch (state_) {
    case state::await_challenge:
      return handshake_step::challenge;
    case state::await_response:
      return handshake_step::response;
    case state::await_identity:
      return role_ == handshake_role::initiator ? handshake_step::acceptor_identity
                                                : handshake_step::initiator_identity;
    default:
      return handshake_step::verdict;
  }
}

void handshake::on_message(bytes_view body) {
  switch (awaited()) {
    case handshake_step::challenge:
      return on_challenge(body);
    case handshake_step::response:
      return on_response(body);
    case handshake_step::acceptor_identity:
      return on_acceptor_identity(body);
    case handshake_step::initiator_identity:
      return on_initiator_identity(body);
    case handshake_step::verdict:
      return on_verdict(body);
  }
}

void handshake::on_challenge(bytes_view body) {
  std::copy(body.begin(), body.end(), transcript_.acceptor_nonce.begin());
  const job_secret::proof proof = prove_step(secret_, handshake_step::response, transcript_);
  std::array<std::byte, nonce_bytes + proof_bytes> answer;
  std::copy(proof.begin(), proof.end(),
            std::copy(transcript_.initiator_nonce.begin(), transcript_.initiator_nonce.end(), answer.begin()));
  send(handshake_step::response, answer);
  state_ = state::await_identity;
}

void handshake::on_response(bytes_view body) {
  std::copy_n(body.begin(), nonce_bytes, transcript_.initiator_nonce.begin());
  if (!verify_step(secret_, handshake_step::response, transcript_, body.last<proof_bytes>())) {
    return refuse(refusal_reason::wrong_secret, unproven);
  }
  transcript_.acceptor_identity = pack(local_);
  send_identity(handshake_step::acceptor_identity, transcript_.acceptor_identity);
  state_ = state::await_identity;
}

void handshake::on_acceptor_identity(bytes_view body) {
  if (!take_identity(handshake_step::acceptor_identity, body, transcript_.acceptor_identity)) return;
  transcript_.initiator_identity = pack(local_);
  send_identity(handshake_step::initiator_identity, transcript_.initiator_identity);
  if (auto refused = judge(local_, peer_, expected_)) {
    return refuse(refused->reason, std::move(refused->explanation));
  }
  state_ = state::await_verdict;
}

void handshake::on_initiator_identity(bytes_view body) {
  if (!take_identity(handshake_step::initiator_identity, body, transcript_.initiator_identity)) return;
  auto refused = judge(local_, peer_, expected_);
  transcript_.verdict = static_cast<std::uint8_t>(refused ? refused->reason : refusal_reason::none);
  const job_secret::proof proof = prove_step(secret_, handshake_step::verdict, transcript_);
  std::array<std::byte, 1 + proof_bytes> verdict{std::byte{transcript_.verdict}};
  std::copy(proof.begin(), proof.end(), verdict.begin() + 1);
  send(handshake_step::verdict, verdict);
  if (refused) return refuse(refused->reason, std::move(refused->explanation));
  state_ = state::accepted;
}

void handshake::on_verdict(bytes_view body) {
  transcript_.verdict = std::to_integer<std::uint8_t>(body.front());
  if (!verify_step(secret_, handshake_step::verdict, transcript_, body.last<proof_bytes>())) {
    return refuse(refusal_reason::wrong_secret, unproven);
  }
  if (transcript_.verdict == 0) {
    state_ = state::accepted;
    return;
  }
  const auto reason = static_cast<refusal_reason>(transcript_.verdict);
  refuse(reason, verdict_words(reason, local_));
  refusal_.by_peer = true;
}

/// Checks the proof before it reads the identity. `kept` receives the identity's bytes, which later proofs cover.
bool handshake::take_identity(handshake_step step, bytes_view body, std::vector<std::byte>& kept) {
  const bytes_view identity = body.first(body.size() - proof_bytes);
  kept.assign(identity.begin(), identity.end());
  if (!verify_step(secret_, step, transcript_, body.last<proof_bytes>())) {
    refuse(refusal_reason::wrong_secret, unproven);
    return false;
  }
  auto read = unpack<peer_identity>(identity);
  if (!read) {
    refuse(refusal_reason::malformed, fmt::format("its identity cannot be read ({})", describe(read.error())));
    return false;
  }
  peer_ = std::move(*read);
  peer_.protocol = local_.protocol;
  return true;
}

void handshake::send(handshake_step step, bytes_view body) {
  const handshake_head head{
      .protocol = local_.protocol, .step = step, .body_bytes = static_cast<std::uint32_t>(body.size())};
  NACRE_ASSERT(unsent_end_ + sizeof head + body.size() <= outgoing_.size(), "a handshake has few and short messages");
  std::memcpy(outgoing_.data() + unsent_end_, &head, sizeof head);
  unsent_end_ += sizeof head;
  if (!body.empty()) std::memcpy(outgoing_.data() + unsent_end_, body.data(), body.size());
  unsent_end_ += body.size();
}

void handshake::send_identity(handshake_step step, bytes_view identity) {
  std::vector<std::byte> body(identity.begin(), identity.end());
  const job_secret::proof proof = prove_step(secret_, step, transcript_);
  body.insert(body.end(), proof.begin(), proof.end());
  send(step, body);
}

void handshake::refuse(refusal_reason reason, std::string cause) {
  refusal_ = {.reason = reason, .explanation = std::move(cause)};
  state_ = state::refused;
}

void handshake::on_closed() {
  if (over()) return;
  refuse(refusal_reason::closed, "it hung up during the handshake; it may hold the secret of another job");
}

void handshake::on_unreachable(std::string cause) {
  if (over()) return;
  refuse(refusal_reason::unreachable, std::move(cause));
}

void handshake::on_timeout() {
  if (over()) return;
  refuse(refusal_reason::timed_out, "it did not finish the handshake in time");
}

std::span<const std::byte> handshake::to_send() const noexcept {
  return bytes_view(outgoing_).subspan(unsent_begin_, unsent_end_ - unsent_begin_);
}

void handshake::sent(std::size_t bytes) {
  NACRE_EXPECT(bytes <= to_send().size(), "no more can have been sent than there was");
  unsent_begin_ += bytes;
}

handshake_status handshake::status() const noexcept {
  if (state_ == state::accepted) return handshake_status::accepted;
  return state_ == state::refused ? handshake_status::refused : handshake_status::need_more;
}

const peer_identity& handshake::peer() const {
  NACRE_EXPECT(state_ == state::accepted, "only an accepted peer is known");
  return peer_;
}

const refusal& handshake::why() const {
  NACRE_EXPECT(state_ == state::refused, "only a refusal has a reason");
  return refusal_;
}

}  // namespace nacre
