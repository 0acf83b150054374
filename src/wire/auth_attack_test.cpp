// SPDX-License-Identifier: Apache-2.0
// An attacker that reads and alters messages, but lacks the secret, is never accepted.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>

#include <nacre/rng.hpp>

#include "wire/auth.hpp"
#include "wire/handshake_test_kit.hpp"

namespace nacre {
namespace {

using namespace test;
using bytes = std::vector<std::byte>;

/// The messages of a handshake between the honest ranks 0 and 1, in order.
std::vector<bytes> recorded() {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  std::vector<bytes> messages;
  handshake* speaker = &acceptor;
  handshake* listener = &initiator;
  while (!speaker->to_send().empty()) {
    messages.push_back(take_all(*speaker));
    feed(*listener, messages.back());
    std::swap(speaker, listener);
  }
  return messages;
}

refusal_reason reason_of(const handshake& side) {
  return side.status() == handshake_status::refused ? side.why().reason : refusal_reason::none;
}

TEST(handshake_attack, a_recorded_initiator_is_not_believed_again) {
  const auto messages = recorded();
  ASSERT_EQ(messages.size(), 5u);
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  feed(acceptor, messages[1]);
  EXPECT_EQ(reason_of(acceptor), refusal_reason::wrong_secret);
}

TEST(handshake_attack, a_recorded_acceptor_is_not_believed_again) {
  const auto messages = recorded();
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  feed(initiator, messages[0]);
  feed(initiator, messages[2]);
  EXPECT_EQ(reason_of(initiator), refusal_reason::wrong_secret);
}

TEST(handshake_attack, an_acceptor_that_hears_its_own_messages_refuses) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  feed(acceptor, take_all(acceptor));
  EXPECT_EQ(reason_of(acceptor), refusal_reason::malformed);
}

TEST(handshake_attack, a_proof_of_the_acceptor_does_not_serve_as_one_of_the_initiator) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  deliver(acceptor, initiator);
  deliver(initiator, acceptor);
  bytes reflected = take_all(acceptor);
  const auto relabelled = handshake_step::initiator_identity;
  std::memcpy(reflected.data() + offsetof(handshake_head, step), &relabelled, sizeof relabelled);
  feed(acceptor, reflected);
  EXPECT_EQ(reason_of(acceptor), refusal_reason::wrong_secret);
}

TEST(handshake_attack, proofs_of_one_connection_do_not_serve_on_another_at_the_same_time) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake other_acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  deliver(other_acceptor, initiator);
  feed(acceptor, take_all(initiator));
  EXPECT_EQ(reason_of(acceptor), refusal_reason::wrong_secret);
}

TEST(handshake_attack, a_proof_holds_under_its_own_secret_only) {
  const handshake_transcript said;
  const job_secret::proof proof = prove_step(secret_two(), handshake_step::response, said);
  EXPECT_TRUE(verify_step(secret_two(), handshake_step::response, said, proof));
  EXPECT_FALSE(verify_step(secret_one(), handshake_step::response, said, proof));
}

TEST(handshake_attack, every_part_of_what_was_said_changes_the_proof) {
  handshake_transcript said{.protocol = 1, .acceptor_identity = {std::byte{1}}, .initiator_identity = {std::byte{2}}};
  const job_secret::proof proof = prove_step(secret_one(), handshake_step::verdict, said);
  const auto changed = [&](handshake_step step, const std::function<void(handshake_transcript&)>& change) {
    handshake_transcript other = said;
    change(other);
    return !verify_step(secret_one(), step, other, proof);
  };
  const auto nothing = [](handshake_transcript&) {};
  EXPECT_FALSE(changed(handshake_step::verdict, nothing));
  EXPECT_TRUE(changed(handshake_step::response, nothing));
  EXPECT_TRUE(changed(handshake_step::verdict, [](auto& t) { t.protocol = 2; }));
  EXPECT_TRUE(changed(handshake_step::verdict, [](auto& t) { t.verdict = 1; }));
  EXPECT_TRUE(changed(handshake_step::verdict, [](auto& t) { t.acceptor_nonce[31] = std::byte{1}; }));
  EXPECT_TRUE(changed(handshake_step::verdict, [](auto& t) { t.initiator_nonce[0] = std::byte{1}; }));
  EXPECT_TRUE(changed(handshake_step::verdict, [](auto& t) { std::swap(t.acceptor_identity, t.initiator_identity); }));
  EXPECT_TRUE(changed(handshake_step::verdict, [](auto& t) {
    t.acceptor_identity.push_back(t.initiator_identity.back());
    t.initiator_identity.clear();
  }));
}

/// Lets ranks 0 and 1 talk while `alter` may change message number `index`. Returns whether its receiver accepted.
bool accepted_in_spite_of(std::size_t index, const std::function<void(bytes&)>& alter) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  for (std::size_t number = 0; number < 5; ++number) {
    handshake& speaker = number % 2 == 0 ? acceptor : initiator;
    handshake& listener = number % 2 == 0 ? initiator : acceptor;
    bytes message = take_all(speaker);
    if (number == index) alter(message);
    feed(listener, message);
  }
  return (index % 2 == 0 ? initiator : acceptor).status() == handshake_status::accepted;
}

TEST(handshake_attack, no_byte_of_any_message_can_be_altered) {
  rng numbers(31);
  const auto messages = recorded();
  EXPECT_TRUE(accepted_in_spite_of(3, [](bytes&) {}));
  for (std::size_t index = 0; index < messages.size(); ++index) {
    for (std::size_t position = 0; position < messages[index].size(); ++position) {
      const std::byte flip{static_cast<unsigned char>(1u << numbers.below(8))};
      EXPECT_FALSE(accepted_in_spite_of(index, [&](bytes& message) { message[position] ^= flip; }))
          << index << " " << position;
    }
  }
}

TEST(handshake_attack, no_message_can_be_left_out_or_doubled) {
  for (std::size_t index = 0; index < 5; ++index) {
    EXPECT_FALSE(accepted_in_spite_of(index, [](bytes& message) { message.clear(); })) << index;
    if (index == 3 || index == 4) continue;  // the receiver's last one: bytes behind it are not the handshake's
    EXPECT_FALSE(accepted_in_spite_of(index, [](bytes& message) {
      const bytes once = message;
      message.insert(message.end(), once.begin(), once.end());
    })) << index;
  }
}

}  // namespace
}  // namespace nacre
