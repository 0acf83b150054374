// SPDX-License-Identifier: Apache-2.0
// Several tokens for a link, and tokens that carry a receiver's buffers.
#include "backplane/flow/token_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "backplane/flow/flow_test_kit.hpp"

namespace nacre::flow::tests {
namespace {

using namespace std::chrono_literals;

constexpr rank_id receiver(0), first(1), second(2);

/// A receiver that answers, and holds as much as the test says.
struct receiver_under_test final : flow_host {
  explicit receiver_under_test(std::uint32_t permits = 1)
      : settings(link_settings{.patience = 800us, .permits = permits, .receive_bytes = 1000}.of_one_permit()),
        room(receiver, permits, settings, *this) {}
  void send(rank_id target, const message& message) override { sent.emplace_back(target, message); }
  void transmit(rank_id, flow_policy, const token_stamp&) override {}
  [[nodiscard]] std::uint64_t held_bytes() const override { return held; }

  void ask(rank_id source, std::uint64_t used, std::uint32_t bytes, nanoseconds now, std::uint32_t epoch = 1) {
    room.on_wanted(
        source, {.kind = message_kind::wanted, .link = receiver, .stamp = {epoch, 7, 0, used}, .number = bytes}, now);
  }
  link_settings settings;
  std::uint64_t held = 0;
  std::vector<std::pair<rank_id, message>> sent;
  token_room room;
};

TEST(token_room, is_what_is_neither_held_nor_under_way) {
  receiver_under_test rank;
  rank.held = 300;
  rank.room.on_arrival({1, 3, 0, 500});
  rank.ask(first, 600, 100, 0us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent[0].first, first);
  EXPECT_EQ(rank.sent[0].second.kind, message_kind::room);
  EXPECT_EQ(rank.sent[0].second.stamp.used, 600U);
  EXPECT_EQ(rank.sent[0].second.room, 600U) << "1000 less 300 held, less 100 that are under way";
}

TEST(token_room, comes_when_enough_has_ended) {
  receiver_under_test rank;
  rank.held = 950;
  rank.room.on_arrival({1, 3, 0, 950});
  rank.ask(first, 950, 200, 0us);
  EXPECT_TRUE(rank.sent.empty());
  EXPECT_EQ(rank.room.due(), 100us);
  rank.room.tick(100us);
  EXPECT_TRUE(rank.sent.empty());
  rank.held = 800;
  rank.room.tick(200us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent[0].second.room, 200U);
  EXPECT_EQ(rank.room.due(), nanoseconds::max());
}

TEST(token_room, of_a_message_longer_than_all_buffers_is_there_when_they_are_empty) {
  receiver_under_test rank;
  rank.held = 1;
  rank.ask(first, 0, 5000, 0us);
  EXPECT_TRUE(rank.sent.empty());
  rank.held = 0;
  rank.room.tick(100us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent[0].second.room, 1000U);
}

TEST(token_room, takes_data_for_lost_that_have_not_come_when_the_holder_asks_again) {
  receiver_under_test rank;
  rank.ask(first, 900, 200, 0us);
  rank.ask(first, 900, 200, 100us);
  EXPECT_TRUE(rank.sent.empty()) << "900 bytes are under way";
  rank.ask(first, 900, 200, 800us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent[0].second.room, 1000U);
}

TEST(token_room, of_an_old_epoch_is_given_to_nobody_and_a_new_one_counts_anew) {
  receiver_under_test rank;
  rank.room.on_arrival({1, 3, 0, 500});
  rank.ask(second, 0, 10, 0us, 2);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent[0].second.room, 1000U);
  rank.ask(first, 0, 10, 0us, 1);
  rank.room.on_arrival({1, 3, 0, 900});
  EXPECT_EQ(rank.sent.size(), 1U);
}

TEST(token_room, is_shared_by_the_tokens_of_a_link) {
  receiver_under_test rank(4);
  rank.held = 200;
  rank.ask(first, 0, 10, 0us);
  ASSERT_EQ(rank.sent.size(), 1U);
  EXPECT_EQ(rank.sent[0].second.room, 200U) << "a quarter of 800";
}

/// Two or three ranks send to rank 0, all at once.
struct run_of_senders {
  run_of_senders(const link_settings& settings, nanoseconds handler_time, nanoseconds latency = 50us)
      : job(4, settings, {.latency = latency}, 1) {
    job.handler_time = handler_time;
    for (int round = 0; round < 20; ++round) {
      for (std::uint32_t source = 1; source < 4; ++source) job.offer(source, 0, flow_policy::token, 10'000);
    }
    all_left = job.run(1s);
    end = job.now();
  }
  simulated_job job;
  bool all_left = false;
  nanoseconds end{0};
};

/// 10 kB take 100 us.
constexpr link_settings link{.bytes_per_second = 1e8, .early = 0us, .patience = 2ms, .small_bytes = 0};

TEST(tokens, that_carry_buffers_bound_what_a_slow_receiver_holds) {
  link_settings bounded = link;
  bounded.receive_bytes = 35'000;
  const run_of_senders free(link, 500us), bound(bounded, 500us);
  EXPECT_TRUE(free.all_left);
  EXPECT_GT(free.job.held_max, 300'000U);
  EXPECT_TRUE(bound.all_left);
  EXPECT_FALSE(bound.job.problem);
  EXPECT_LE(bound.job.held_max, 35'000U);
  EXPECT_GE(bound.end, 57 * 500us) << "the receiver's pace";
  EXPECT_LE(bound.end, 65 * 500us) << "which is kept up with";
}

TEST(tokens, that_carry_buffers_cost_a_fast_receiver_little) {
  link_settings bounded = link;
  bounded.receive_bytes = 100'000;
  const run_of_senders free(link, 10us), bound(bounded, 10us);
  EXPECT_TRUE(bound.all_left);
  EXPECT_LE(bound.end, free.end * 105 / 100);
}

TEST(tokens, two_of_a_link_hide_the_time_that_one_takes_from_sender_to_sender) {
  link_settings two = link;
  two.permits = 2;
  const run_of_senders one(link, 0us), both(two, 0us);
  EXPECT_TRUE(one.all_left && both.all_left);
  EXPECT_FALSE(both.job.problem);
  const nanoseconds ideal = 59 * 100us;
  EXPECT_GT(one.end, ideal * 14 / 10) << "nothing is sent while the token is under way";
  EXPECT_LT(both.end, ideal * 13 / 10);
}

TEST(tokens, several_let_as_many_senders_send_at_a_time_each_with_its_part_of_the_link) {
  link_settings three = link;
  three.permits = 3;
  const run_of_senders all(three, 0us);
  EXPECT_TRUE(all.all_left);
  std::vector<std::uint64_t> sent(4);
  for (const auto& each : all.job.departures) {
    if (each.time < 3ms) sent[each.source] += each.bytes;
  }
  const std::uint64_t sum = sent[1] + sent[2] + sent[3];
  EXPECT_LE(sum, 300'000U + 3 * 10'000) << "3 ms of the link";
  EXPECT_GE(sum, 200'000U);
  for (std::uint32_t source = 1; source < 4; ++source) EXPECT_NEAR(sent[source], sum / 3, sum / 10) << source;
}

TEST(tokens, a_lone_sender_uses_all_of_them) {
  link_settings four = link;
  four.permits = 4;
  simulated_job job(3, four, {.latency = 20us}, 1);
  for (int i = 0; i < 40; ++i) job.offer(1, 0, flow_policy::token, 10'000);
  EXPECT_TRUE(job.run(1s));
  EXPECT_LE(job.now(), 44 * 100us) << "the whole link";
}

}  // namespace
}  // namespace nacre::flow::tests
