// SPDX-License-Identifier: Apache-2.0
// The promises of the handshake: which peers it accepts, which it refuses, and with which words.
#include "wire/auth.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "wire/handshake_test_kit.hpp"

namespace nacre {
namespace {

using test::converse;
using test::identity_of;
using test::message_bytes;
using test::secret_one;
using test::secret_two;
using test::take_all;

TEST(handshake, two_members_of_a_job_accept_each_other_and_learn_who_they_are) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(3), rank_id{0});
  converse(acceptor, initiator);
  ASSERT_EQ(acceptor.status(), handshake_status::accepted);
  ASSERT_EQ(initiator.status(), handshake_status::accepted);
  EXPECT_EQ(acceptor.peer(), identity_of(3));
  EXPECT_EQ(initiator.peer(), identity_of(0));
}

TEST(handshake, bytes_may_arrive_one_at_a_time) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  converse(acceptor, initiator, 1);
  EXPECT_EQ(acceptor.status(), handshake_status::accepted);
  EXPECT_EQ(initiator.status(), handshake_status::accepted);
}

TEST(handshake, bytes_behind_the_verdict_are_left_to_the_caller) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  while (acceptor.status() != handshake_status::accepted) {
    test::deliver(acceptor, initiator);
    test::deliver(initiator, acceptor);
  }
  std::vector<std::byte> last = take_all(acceptor);
  last.push_back(std::byte{42});
  std::span<const std::byte> rest(last);
  EXPECT_EQ(initiator.on_bytes(rest), handshake_status::accepted);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest.front(), std::byte{42});
}

TEST(handshake, the_longest_address_fits_the_messages) {
  peer_identity far = identity_of(1);
  far.address.assign(peer_identity::address_bytes_max, 'x');
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), far);
  converse(acceptor, initiator);
  ASSERT_EQ(acceptor.status(), handshake_status::accepted);
  EXPECT_EQ(acceptor.peer().address, far.address);
}

TEST(handshake, an_acceptor_refuses_a_stranger_without_the_secret_and_tells_it_nothing) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_two(), identity_of(1));
  EXPECT_EQ(take_all(acceptor).size(), message_bytes(32));  // the challenge: 32 random bytes
  handshake fresh(handshake_role::acceptor, secret_one(), identity_of(0));
  converse(fresh, initiator);
  ASSERT_EQ(fresh.status(), handshake_status::refused);
  EXPECT_EQ(fresh.why().reason, refusal_reason::wrong_secret);
  EXPECT_EQ(fresh.why().log_line("127.0.0.1:4242"),
            "refused a peer at 127.0.0.1:4242: it could not prove the job's secret");
  EXPECT_TRUE(fresh.to_send().empty());
  EXPECT_EQ(initiator.status(), handshake_status::need_more);
  initiator.on_closed();
  EXPECT_EQ(initiator.why().reason, refusal_reason::closed);
  EXPECT_EQ(initiator.why().log_line("host:1"),
            "gave up on a peer at host:1: it hung up during the handshake; it may hold the secret of another job");
}

TEST(handshake, an_initiator_refuses_an_acceptor_that_only_pretends_to_know_the_secret) {
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  handshake liar(handshake_role::acceptor, secret_two(), identity_of(0));
  test::deliver(liar, initiator);
  static_cast<void>(take_all(initiator));
  handshake_transcript guessed{.protocol = wire_protocol_version};
  test::feed(initiator,
             test::identity_message(secret_two(), handshake_step::acceptor_identity, guessed, identity_of(0)));
  ASSERT_EQ(initiator.status(), handshake_status::refused);
  EXPECT_EQ(initiator.why().reason, refusal_reason::wrong_secret);
  EXPECT_TRUE(initiator.to_send().empty());  // in particular not the initiator's identity
}

TEST(handshake, another_binary_is_refused_by_both_sides_with_both_fingerprints) {
  peer_identity other = identity_of(1);
  other.binary = 0xfedcba9876543210;
  const test::refusals refusals = test::refusals_with(other);
  EXPECT_EQ(refusals.of_acceptor.reason, refusal_reason::other_binary);
  EXPECT_EQ(refusals.of_initiator.reason, refusal_reason::other_binary);
  EXPECT_EQ(refusals.of_acceptor.log_line("10.0.0.1:7"),
            "refused a peer at 10.0.0.1:7: it runs another binary (fingerprint fedcba9876543210, here "
            "0123456789abcdef); start every rank from the same executable");
}

TEST(handshake, another_handler_table_is_refused_with_what_to_do) {
  peer_identity other = identity_of(1);
  other.handlers = 1;
  const refusal refusal = test::refusal_at_acceptor(other);
  EXPECT_EQ(refusal.reason, refusal_reason::other_binary);
  EXPECT_EQ(refusal.explanation,
            "it has other handlers (handler table 0000000000000001, here 00000000000000aa); rebuild, and start every "
            "rank from the same executable with the same libraries");
  other.binary = 1;
  EXPECT_EQ(
      test::refusal_at_acceptor(other).explanation.find("it runs another binary with other handlers (fingerprint "),
      0U);
}

TEST(handshake, another_protocol_version_is_refused_by_both_sides_before_anything_else) {
  peer_identity other = identity_of(1);
  other.protocol = 7;
  const test::refusals refusals = test::refusals_with(other, secret_two());
  EXPECT_EQ(refusals.of_acceptor.reason, refusal_reason::other_protocol_version);
  EXPECT_EQ(refusals.of_initiator.reason, refusal_reason::other_protocol_version);
  EXPECT_EQ(refusals.of_acceptor.explanation,
            "it speaks version 7 of the protocol, here 2; start every rank from the same executable");
}

TEST(handshake, another_number_of_connections_and_one_beyond_it_are_refused_by_both_sides) {
  peer_identity other = identity_of(1);
  other.connections = 3;
  const test::refusals refusals = test::refusals_with(other);
  EXPECT_EQ(refusals.of_acceptor.reason, refusal_reason::other_connections);
  EXPECT_EQ(refusals.of_acceptor.explanation,
            "it makes 3 connections with each rank, here 1; start every rank with the same options");
  EXPECT_EQ(refusals.of_initiator.explanation,
            "it makes 1 connections with each rank, here 3; start every rank with the same options");
  other.connections = 1;
  other.connection = 1;
  const refusal beyond = test::refusal_at_acceptor(other);
  EXPECT_EQ(beyond.reason, refusal_reason::other_connections);
  EXPECT_EQ(beyond.explanation, "it says this is connection 1 of 1");
}

TEST(handshake, the_number_of_a_connection_reaches_the_acceptor_and_makes_no_other_peer) {
  peer_identity called = identity_of(0);
  peer_identity calls = identity_of(1);
  called.connections = calls.connections = 3;
  calls.connection = 2;
  handshake acceptor(handshake_role::acceptor, secret_one(), called);
  handshake initiator(handshake_role::initiator, secret_one(), calls);
  converse(acceptor, initiator);
  ASSERT_EQ(acceptor.status(), handshake_status::accepted);
  EXPECT_EQ(acceptor.peer().connection, 2);
  peer_identity first = calls;
  first.connection = 0;
  EXPECT_TRUE(first.same_peer(acceptor.peer()));
  first.address = "10.0.0.8:4242";
  EXPECT_FALSE(first.same_peer(acceptor.peer()));
}

TEST(handshake, another_job_size_is_refused) {
  peer_identity other = identity_of(1);
  other.size = 5;
  const refusal refusal = test::refusal_at_acceptor(other);
  EXPECT_EQ(refusal.reason, refusal_reason::other_job_size);
  EXPECT_EQ(refusal.explanation, "it counts 5 ranks in the job, here 4");
}

TEST(handshake, a_rank_outside_the_job_is_refused) {
  const refusal refusal = test::refusal_at_acceptor(identity_of(4));
  EXPECT_EQ(refusal.reason, refusal_reason::bad_rank);
  EXPECT_EQ(refusal.explanation, "it says it is rank 4 of 4");
}

TEST(handshake, a_peer_with_our_own_rank_is_refused) {
  const refusal refusal = test::refusal_at_acceptor(identity_of(0));
  EXPECT_EQ(refusal.reason, refusal_reason::bad_rank);
  EXPECT_EQ(refusal.explanation, "it says it is rank 0, which is this one");
}

TEST(handshake, a_rank_other_than_the_one_called_is_refused) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1), rank_id{2});
  converse(acceptor, initiator);
  ASSERT_EQ(initiator.status(), handshake_status::refused);
  EXPECT_EQ(initiator.why().reason, refusal_reason::bad_rank);
  EXPECT_EQ(initiator.why().explanation, "it is rank 0, expected 2");
}

TEST(handshake, an_initiator_that_is_not_wanted_learns_why_from_the_verdict) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0), rank_id{2});
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  converse(acceptor, initiator);
  ASSERT_EQ(acceptor.status(), handshake_status::refused);
  ASSERT_EQ(initiator.status(), handshake_status::refused);
  EXPECT_EQ(initiator.why().reason, refusal_reason::bad_rank);
  EXPECT_TRUE(initiator.why().by_peer);
  EXPECT_EQ(initiator.why().log_line("h:1"), "was refused by a peer at h:1: it does not want rank 1 here");
}

TEST(handshake, an_unprintable_address_is_refused_although_its_sender_is_proven) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  test::forger forger(acceptor, handshake_role::acceptor);
  peer_identity bad = identity_of(1);
  bad.address = "10.0.0.1:1\nrank 0 is fine";
  forger.prove_identity(pack(bad));
  ASSERT_EQ(acceptor.status(), handshake_status::refused);
  EXPECT_EQ(acceptor.why().reason, refusal_reason::malformed);
  EXPECT_EQ(acceptor.why().explanation, "its identity cannot be read (the type's own load function refused the value)");
}

TEST(handshake, a_stranger_that_speaks_another_language_is_refused_at_its_first_byte) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  test::feed(acceptor, std::string_view("G"));
  ASSERT_EQ(acceptor.status(), handshake_status::refused);
  EXPECT_EQ(acceptor.why().reason, refusal_reason::malformed);
  EXPECT_EQ(acceptor.why().log_line("1.2.3.4:5"), "refused a peer at 1.2.3.4:5: it does not speak nacre's handshake");
}

TEST(handshake, a_message_that_announces_too_many_bytes_is_refused_before_they_come) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  const handshake_head head{.protocol = wire_protocol_version, .step = handshake_step::response, .body_bytes = 1 << 30};
  test::feed(acceptor, pack(head));
  ASSERT_EQ(acceptor.status(), handshake_status::refused);
  EXPECT_EQ(acceptor.why().reason, refusal_reason::malformed);
}

TEST(handshake, a_message_that_skips_the_response_is_refused) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  test::feed(acceptor, test::identity_message(secret_one(), handshake_step::initiator_identity,
                                              {.protocol = wire_protocol_version}, identity_of(1)));
  ASSERT_EQ(acceptor.status(), handshake_status::refused);
  EXPECT_EQ(acceptor.why().reason, refusal_reason::malformed);
}

TEST(handshake, every_truncation_leaves_it_waiting_until_the_caller_gives_up) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
  test::deliver(acceptor, initiator);
  const std::vector<std::byte> response = take_all(initiator);
  for (std::size_t bytes = 0; bytes < response.size(); ++bytes) {
    handshake cut(handshake_role::acceptor, secret_one(), identity_of(0));
    test::feed(cut, std::span(response).first(bytes));
    ASSERT_EQ(cut.status(), handshake_status::need_more) << bytes;
    cut.on_timeout();
    ASSERT_EQ(cut.status(), handshake_status::refused);
    EXPECT_EQ(cut.why().reason, refusal_reason::timed_out);
    EXPECT_EQ(cut.why().log_line("h:1"), "gave up on a peer at h:1: it did not finish the handshake in time");
  }
}

TEST(handshake, a_finished_handshake_ignores_bytes_closing_and_time) {
  handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
  test::feed(acceptor, std::string_view("HELO"));
  std::vector<std::byte> more(100);
  std::span<const std::byte> rest(more);
  EXPECT_EQ(acceptor.on_bytes(rest), handshake_status::refused);
  EXPECT_EQ(rest.size(), 100u);
  acceptor.on_closed();
  acceptor.on_timeout();
  EXPECT_EQ(acceptor.why().reason, refusal_reason::malformed);
}

}  // namespace
}  // namespace nacre
