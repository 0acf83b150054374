// SPDX-License-Identifier: Apache-2.0
// The promises of a rank's part in the token protocol, each as a sentence.
#include "backplane/flow/token_link.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace nacre::flow {
namespace {

using namespace std::chrono_literals;

constexpr rank_id receiver(0), first(1), second(2), third(3);

/// Collects what a rank sends.
struct recorder : flow_host {
  void send(rank_id target, const message& message) override { sent.emplace_back(target, message); }
  void transmit(rank_id, flow_policy, const token_stamp&) override { ++transmitted; }
  [[nodiscard]] std::vector<message> of(message_kind kind) const {
    std::vector<message> messages;
    for (const auto& [target, content] : sent) {
      if (content.kind == kind) messages.push_back(content);
    }
    return messages;
  }
  std::vector<std::pair<rank_id, message>> sent;
  int transmitted = 0;

 protected:
  ~recorder() = default;
};

/// A byte takes 1 us; no buffer to rely on.
constexpr link_settings plain{.bytes_per_second = 1e6, .early = 0us, .patience = 1000us, .small_bytes = 0};

[[nodiscard]] message request_of(rank_id rank, std::uint32_t epoch = 1) {
  return {.kind = message_kind::request, .link = receiver, .subject = rank, .stamp = {epoch, 0}};
}
[[nodiscard]] message grant(std::uint64_t pass, nanoseconds delay = 0us, std::vector<std::uint32_t> line = {}) {
  return {.kind = message_kind::grant,
          .link = receiver,
          .subject = first,
          .stamp = {1, pass},
          .delay = delay,
          .list = std::move(line)};
}

struct rank_under_test final : recorder {
  explicit rank_under_test(rank_id self, const link_settings& settings = plain)
      : link_timing(settings), token({self, receiver, 4}, link_timing, sizes, *this) {}
  link_settings link_timing;
  std::deque<std::uint64_t> sizes;
  token_link token;
};

TEST(token_link, the_rank_at_the_links_end_has_the_token_first_and_gives_it_to_who_asks) {
  rank_under_test keeper(receiver);
  keeper.token.receive(first, request_of(first), 0us);
  ASSERT_EQ(keeper.of(message_kind::grant).size(), 1U);
  EXPECT_EQ(keeper.sent.front().first, first);
  EXPECT_EQ(keeper.sent.front().second.stamp, (token_stamp{1, 1}));
  EXPECT_FALSE(keeper.token.holds());
}

TEST(token_link, a_rank_with_a_message_asks_the_suspected_holder_and_sends_when_the_token_comes) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent.front().first, receiver);
  EXPECT_EQ(rank.sent.front().second.kind, message_kind::request);
  EXPECT_EQ(rank.transmitted, 0);
  rank.token.receive(receiver, grant(1), 10us);
  EXPECT_EQ(rank.transmitted, 1);
}

TEST(token_link, a_request_that_comes_just_behind_the_grant_waits_until_the_own_message_has_left) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 50us), 10us);  // the link is free at 60 us, so the message still waits
  rank.token.receive(second, request_of(second), 10us);
  EXPECT_TRUE(rank.of(message_kind::grant).empty()) << "the token must not go on unused";
  rank.token.tick(60us);
  EXPECT_EQ(rank.transmitted, 1);
  EXPECT_TRUE(rank.of(message_kind::grant).empty()) << "the message is still on the link";
  rank.token.tick(160us);
  EXPECT_EQ(rank.of(message_kind::grant).size(), 1U);
}

TEST(token_link, a_grant_that_finds_others_in_line_is_used_before_it_is_passed_on) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 0us, {2, 3}), 10us);
  EXPECT_EQ(rank.transmitted, 1);
  EXPECT_TRUE(rank.of(message_kind::grant).empty());
  rank.token.tick(110us);
  const auto passed = rank.of(message_kind::grant);
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_EQ(passed.front().subject, second);
  EXPECT_EQ(passed.front().list, std::vector<std::uint32_t>{3});
}

TEST(token_link, nothing_leaves_before_the_time_at_which_the_grant_says_that_the_link_is_free) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 500us), 10us);
  rank.token.tick(509us);
  EXPECT_EQ(rank.transmitted, 0);
  EXPECT_EQ(rank.token.due(), 510us);
  rank.token.tick(510us);
  EXPECT_EQ(rank.transmitted, 1);
}

TEST(token_link, a_buffer_at_the_port_lets_a_message_leave_while_the_link_is_busy_for_as_long_as_it_can_hold) {
  link_settings settings = plain;
  settings.buffer_bytes = 400;  // three quarters of it hold the message and 200 bytes, which take 200 us
  rank_under_test rank(first, settings);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 500us), 0us);
  EXPECT_EQ(rank.token.due(), 300us);
}

TEST(token_link, an_early_token_leaves_before_the_end_of_the_message_and_says_when_the_link_is_free) {
  link_settings settings = plain;
  settings.early = 30us;
  rank_under_test rank(first, settings);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 0us, {2}), 0us);
  EXPECT_EQ(rank.token.due(), 70us);
  rank.token.tick(70us);
  ASSERT_EQ(rank.of(message_kind::grant).size(), 1U);
  EXPECT_EQ(rank.of(message_kind::grant).front().delay, 30us);
}

TEST(token_link, a_holder_with_more_messages_goes_to_the_end_of_the_line) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 0us, {2, 3}), 0us);
  rank.token.tick(100us);
  EXPECT_EQ(rank.transmitted, 1);
  ASSERT_EQ(rank.of(message_kind::grant).size(), 1U);
  EXPECT_EQ(rank.of(message_kind::grant).front().list, (std::vector<std::uint32_t>{3, 1}));
}

TEST(token_link, a_single_sender_keeps_the_token_and_tells_where_it_is_once) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(second, grant(1), 0us);
  rank.token.tick(100us);
  const std::size_t sent = rank.sent.size();
  EXPECT_EQ(rank.of(message_kind::hint).size(), 2U);  // to the keeper, and to the rank that it came from
  for (int i = 1; i < 10; ++i) {
    rank.token.offer(100, i * 1000us);
    rank.token.tick(i * 1000us + 100us);
  }
  EXPECT_EQ(rank.transmitted, 10);
  EXPECT_EQ(rank.sent.size(), sent);
}

TEST(token_link, copies_of_a_grant_and_late_ones_are_void) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 0us, {2}), 0us);
  rank.token.tick(100us);  // it has gone on, as pass 2
  ASSERT_FALSE(rank.token.holds());
  rank.token.receive(receiver, grant(1, 0us, {2}), 200us);
  EXPECT_FALSE(rank.token.holds());
  rank.token.receive(receiver, grant(2), 200us);
  EXPECT_FALSE(rank.token.holds());
  rank.token.receive(third, grant(3), 200us);
  EXPECT_TRUE(rank.token.holds());
}

TEST(token_link, a_grant_is_repeated_until_it_is_acknowledged) {
  rank_under_test keeper(receiver);
  keeper.token.receive(first, request_of(first), 0us);
  EXPECT_EQ(keeper.token.due(), 1000us);
  keeper.token.tick(1000us);
  EXPECT_EQ(keeper.of(message_kind::grant).size(), 2U);
  message taken{.kind = message_kind::taken, .link = receiver, .subject = first, .stamp = {1, 1}};
  keeper.token.receive(first, taken, 1100us);
  EXPECT_EQ(keeper.token.due(), nanoseconds::max());
}

TEST(token_link, the_latency_is_half_of_the_shortest_acknowledged_round_trip_and_taken_off_the_delay) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 0us, {2}), 0us);
  rank.token.tick(100us);
  rank.token.receive(second, {.kind = message_kind::taken, .link = receiver, .subject = second, .stamp = {1, 2}},
                     136us);
  EXPECT_EQ(rank.token.latency(), 18us);
  rank.token.offer(100, 200us);
  rank.token.receive(second, grant(3, 118us), 300us);
  EXPECT_EQ(rank.token.due(), 400us);
}

TEST(token_link, a_turn_of_short_messages_lasts_a_grants_flight) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 0us, {2}), 0us);
  rank.token.tick(100us);
  rank.token.receive(second, {.kind = message_kind::taken, .link = receiver, .stamp = {1, 2}}, 200us);
  ASSERT_EQ(rank.token.latency(), 50us);
  for (int i = 0; i < 8; ++i) rank.token.offer(10, 300us);
  rank.token.receive(second, grant(3, 0us, {2}), 400us);
  for (nanoseconds time = 410us; time < 450us; time += 10us) {
    rank.token.tick(time);
    EXPECT_EQ(rank.of(message_kind::grant).size(), 1U)
        << "the turn ended after " << rank.transmitted - 1 << " messages";
  }
  rank.token.tick(450us);
  EXPECT_EQ(rank.transmitted, 1 + 5);
  EXPECT_EQ(rank.of(message_kind::grant).size(), 2U);
  EXPECT_EQ(rank.token.pending(), 3U);
}

TEST(token_link, a_grant_that_was_held_up_on_its_way_does_not_move_the_time_at_which_the_link_is_free) {
  rank_under_test rank(first);
  const auto granted = [](std::uint64_t pass, nanoseconds sent) {
    message m = grant(pass, 500us);
    m.sent = sent;
    return m;
  };
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, granted(1, 1000us), 20us);  // the clocks are 980 us apart, or less
  EXPECT_EQ(rank.token.due(), 520us);
  rank.token.tick(520us);
  rank.token.receive(second, request_of(second), 520us);
  rank.token.tick(620us);  // it goes on
  rank.token.offer(100, 700us);
  rank.token.receive(receiver, granted(3, 2000us), 1060us);  // 40 us longer than the first
  EXPECT_NEAR(static_cast<double>(rank.token.due().count()), 1'520'000.0, 200.0);
}

TEST(token_link, a_holder_drops_its_token_when_it_hears_of_a_newer_epoch) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.receive(receiver, grant(1, 5000us), 0us);
  ASSERT_TRUE(rank.token.holds());
  rank.token.receive(receiver, {.kind = message_kind::hint, .link = receiver, .subject = second, .stamp = {2, 0}},
                     10us);
  EXPECT_FALSE(rank.token.holds());
  EXPECT_EQ(rank.of(message_kind::request).size(), 2U) << "it asks for the new one";
  rank.token.receive(third, grant(9), 20us);
  EXPECT_FALSE(rank.token.holds()) << "tokens of the old epoch are void";
}

TEST(token_link, a_rank_without_the_token_passes_requests_on_but_not_for_ever) {
  rank_under_test rank(first);
  rank.token.receive(second, request_of(second), 0us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent.front().first, receiver);
  EXPECT_EQ(rank.sent.front().second.number, 1U);
  rank.token.receive(third, request_of(third), 0us);
  ASSERT_EQ(rank.sent.size(), 2U);
  EXPECT_EQ(rank.sent.back().first, second) << "that rank will have the token last";
  message travelled = request_of(second);
  travelled.number = 4;
  rank.token.receive(second, travelled, 0us);
  EXPECT_EQ(rank.sent.size(), 2U);
}

TEST(token_link, a_rank_that_waits_keeps_requests_and_lines_them_up_behind_the_granted_line) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.sent.clear();
  rank.token.receive(third, request_of(third), 0us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent.front().first, third);
  EXPECT_EQ(rank.sent.front().second.kind, message_kind::hint);
  rank.token.receive(receiver, grant(1, 0us, {second.value()}), 10us);
  rank.token.tick(110us);
  const auto granted = rank.of(message_kind::grant);
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted.front().subject, second);
  EXPECT_EQ(granted.front().list, std::vector<std::uint32_t>{third.value()});
}

TEST(token_link, a_rank_whom_nobody_answers_asks_all_and_then_the_keeper) {
  rank_under_test rank(first);
  rank.token.offer(100, 0us);
  rank.token.tick(1000us);
  EXPECT_EQ(rank.of(message_kind::search).size(), 3U);
  EXPECT_TRUE(rank.of(message_kind::lost).empty());
  rank.token.tick(rank.token.due());
  EXPECT_EQ(rank.of(message_kind::lost).size(), 1U);
}

}  // namespace
}  // namespace nacre::flow
