// SPDX-License-Identifier: Apache-2.0
// Credit and slots: what a receiver allows, and when.
#include "backplane/flow/receiver_schedule.hpp"

#include "backplane/flow/demand_sender.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace nacre::flow {
namespace {

using namespace std::chrono_literals;
using sizes = std::vector<std::uint32_t>;

constexpr rank_id centre(0), near(1), far(2);

struct answers final : flow_host {
  void send(rank_id target, const message& message) override { sent.emplace_back(target, message); }
  void transmit(rank_id, flow_policy, const token_stamp&) override {}
  std::vector<std::pair<rank_id, message>> sent;
};

/// A byte takes 1 us.
[[nodiscard]] link_settings slow_link(std::uint64_t buffer) {
  return {.bytes_per_second = 1e6, .buffer_bytes = buffer, .patience = 1000us};
}
[[nodiscard]] message demand(std::uint32_t number, sizes sizes) {
  return {.kind = message_kind::demand, .link = centre, .subject = {}, .number = number, .list = std::move(sizes)};
}

TEST(receiver_schedule, slots_follow_each_other_as_the_link_gets_free) {
  const link_settings settings = slow_link(0);
  answers out;
  receiver_schedule slots(centre, flow_policy::slot, settings, out);
  slots.on_demand(near, demand(0, {100, 50}), 0us);
  slots.on_demand(far, demand(0, {30}), 10us);
  ASSERT_EQ(out.sent.size(), 2U);
  EXPECT_EQ(out.sent[0].second.list, (sizes{0, 100'000}));
  EXPECT_EQ(out.sent[1].second.list, (sizes{140'000}));  // the link is free at 150 us
}

TEST(receiver_schedule, a_repeated_demand_gets_the_same_slot_again) {
  const link_settings settings = slow_link(0);
  answers out;
  receiver_schedule slots(centre, flow_policy::slot, settings, out);
  slots.on_demand(near, demand(0, {100, 50}), 0us);
  slots.on_demand(near, demand(0, {100, 50}), 60us);
  ASSERT_EQ(out.sent.size(), 2U);
  EXPECT_EQ(out.sent[1].second.number, 0U);
  EXPECT_EQ(out.sent[1].second.list, (sizes{0, 40'000}));
  slots.on_demand(far, demand(0, {10}), 60us);
  EXPECT_EQ(out.sent[2].second.list, (sizes{90'000})) << "the copy has taken no time of the link";
}

TEST(receiver_schedule, numbers_wrap) {
  constexpr std::uint32_t end = ~std::uint32_t{0};
  const link_settings settings = slow_link(0);
  answers out;
  receiver_schedule slots(centre, flow_policy::slot, settings, out, end - 1);
  slots.on_demand(near, demand(end - 1, {100, 50, 20, 10}), 0us);
  ASSERT_EQ(out.sent.size(), 1U);
  EXPECT_EQ(out.sent[0].second.number, end - 1);
  EXPECT_EQ(out.sent[0].second.list.size(), 4U);
  slots.on_demand(near, demand(1, {10}), 0us);  // it has missed the answer, or the last part of it
  ASSERT_EQ(out.sent.size(), 2U);
  EXPECT_EQ(out.sent[1].second.number, 1U);
  EXPECT_EQ(out.sent[1].second.list.size(), 1U);
  slots.on_demand(near, demand(end, {50, 20, 10}), 0us);
  ASSERT_EQ(out.sent.size(), 3U);
  EXPECT_EQ(out.sent[2].second.list.size(), 3U);
  slots.on_demand(near, demand(2, {30}), 0us);
  ASSERT_EQ(out.sent.size(), 4U);
  EXPECT_EQ(out.sent[3].second.number, 2U);
}

TEST(demand_sender, numbers_wrap) {
  const link_settings settings = slow_link(0);
  std::vector<std::size_t> demands;
  for (const std::uint32_t first : {std::uint32_t{0}, ~std::uint32_t{0} - 20, ~std::uint32_t{0} - 3}) {
    answers asked, allowed;
    demand_sender sender(centre, flow_policy::credit, settings, asked, first);
    receiver_schedule schedule(centre, flow_policy::slot, settings, allowed, first);
    for (int i = 0; i < 40; ++i) sender.offer(1, 0us);
    for (std::size_t done = 0; done < asked.sent.size(); ++done) {
      schedule.on_demand(near, message(asked.sent[done].second), 0us);
      while (!allowed.sent.empty()) {
        const message next = allowed.sent.front().second;
        allowed.sent.erase(allowed.sent.begin());
        sender.on_allowance(next, 0us);
      }
      ASSERT_LT(done, 100U);
    }
    sender.tick(1s);
    EXPECT_EQ(sender.pending(), 0U) << first;
    EXPECT_EQ(sender.retries(), 0U) << first;
    demands.push_back(asked.sent.size());
  }
  EXPECT_EQ(demands[1], demands[0]) << "it asks more often while its numbers wrap";
  EXPECT_EQ(demands[2], demands[0]);
}

TEST(receiver_schedule, credit_never_exceeds_what_the_port_can_hold) {
  const link_settings settings = slow_link(400);  // of which 350 are given
  answers out;
  receiver_schedule credits(centre, flow_policy::credit, settings, out);
  credits.on_demand(near, demand(0, {150, 150, 150}), 0us);
  EXPECT_EQ(credits.outstanding_bytes(), 300U);
  credits.on_demand(far, demand(0, {150}), 0us);
  EXPECT_EQ(credits.outstanding_bytes(), 300U);
  const std::size_t previous = out.sent.size();
  credits.on_arrival(near, 150us);
  EXPECT_EQ(credits.outstanding_bytes(), 300U);
  ASSERT_EQ(out.sent.size(), previous + 1);
  credits.on_arrival(near, 300us);
  EXPECT_EQ(out.sent[previous].first, near) << "it has waited for longer";
  EXPECT_EQ(out.sent.back().first, far);
}

TEST(receiver_schedule, a_message_longer_than_the_buffer_is_allowed_alone) {
  const link_settings settings = slow_link(100);
  answers out;
  receiver_schedule credits(centre, flow_policy::credit, settings, out);
  credits.on_demand(near, demand(0, {500, 500}), 0us);
  EXPECT_EQ(credits.outstanding_bytes(), 500U);
  credits.on_arrival(near, 500us);
  EXPECT_EQ(credits.outstanding_bytes(), 500U);
  EXPECT_EQ(out.sent.size(), 2U);
}

TEST(receiver_schedule, credit_of_a_sender_that_never_sends_comes_back) {
  const link_settings settings = slow_link(100);
  answers out;
  receiver_schedule credits(centre, flow_policy::credit, settings, out);
  credits.on_demand(near, demand(0, {100}), 0us);
  credits.on_demand(far, demand(0, {100}), 0us);
  EXPECT_EQ(out.sent.size(), 1U);
  ASSERT_NE(credits.due(), nanoseconds::max());
  credits.tick(credits.due());
  ASSERT_EQ(out.sent.size(), 2U);
  EXPECT_EQ(out.sent.back().first, far);
}

TEST(receiver_schedule, nothing_is_planned_further_ahead_than_the_horizon) {
  const link_settings settings = slow_link(0);
  answers out;
  receiver_schedule slots(centre, flow_policy::slot, settings, out);
  slots.on_demand(near, demand(0, {1'500'000, 10, 10}), 0us);
  EXPECT_EQ(out.sent.back().second.list.size(), 1U);
  slots.tick(500'001us);
  EXPECT_EQ(out.sent.back().second.number, 1U);
}

}  // namespace
}  // namespace nacre::flow
