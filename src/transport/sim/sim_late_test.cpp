// SPDX-License-Identifier: Apache-2.0
// Messages that a rank sends after long work do not delay those that it sends and receives during that work.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "transport/sim/sim_test_kit.hpp"

namespace nacre::transport::sim_tests {
namespace {

constexpr nanoseconds long_work{1'000'000};

/// Rank 0 of a job: it works for long from the start on and then sends; shortly after its start another activity of it
/// sends.
struct worker {
  struct way {
    std::uint32_t target;
    channel on_channel;
  };
  job* all;
  std::vector<way> late;    // sent at the end of the work
  std::vector<way> prompt;  // sent meanwhile
  static void work(void* self, std::uint64_t) {
    auto& subject = *static_cast<worker*>(self);
    subject.all->fabric.machine().spend(long_work);
    for (const way& each : subject.late) subject.all->send(0, each.target, numbered(1, each.on_channel));
    subject.all->fabric.machine().at(subject.all->fabric.machine().event_time() + nanoseconds(5000), &send_now, self,
                                     0);
  }
  static void send_now(void* self, std::uint64_t) {
    auto& subject = *static_cast<worker*>(self);
    for (const way& each : subject.prompt) subject.all->send(0, each.target, numbered(2, each.on_channel));
  }
};

TEST(sim_late, others_do_not_wait_for_what_leaves_after_long_work) {
  constexpr channel on_channel = channel::application;
  job all(3, plain());
  worker one{&all, {{1, on_channel}, {0, on_channel}}, {{2, on_channel}, {1, channel::system}, {0, channel::system}}};
  all.fabric.machine().at(nanoseconds(0), &worker::work, &one, 0);
  all.run();
  ASSERT_EQ(all.received[2].size(), 1U);
  EXPECT_EQ(all.received[2][0].when_ns, 5000 + 200 + 1000 + 39);  // as if nothing else were there
  ASSERT_EQ(all.received[1].size(), 2U);
  EXPECT_EQ(all.received[1][0].on_channel, channel::system);
  EXPECT_LT(all.received[1][0].when_ns, 10'000);
  EXPECT_EQ(all.received[1][1].when_ns, long_work.count() + 200 + 1000 + 39);
  ASSERT_EQ(all.received[0].size(), 2U);
  EXPECT_EQ(all.received[0][0].on_channel, channel::system);
  EXPECT_LT(all.received[0][0].when_ns, 10'000);
  EXPECT_GE(all.received[0][1].when_ns, long_work.count());
}

TEST(sim_late, messages_of_one_stream_arrive_in_the_order_in_which_they_were_sent_whenever_they_leave) {
  constexpr channel on_channel = channel::application;
  for (const std::uint32_t target : {0U, 1U}) {
    job all(2, plain());
    worker one{&all, {{target, on_channel}, {target, on_channel}}, {{target, on_channel}}};
    all.fabric.machine().at(nanoseconds(0), &worker::work, &one, 0);
    EXPECT_FALSE(all.ends[0]->unsent());
    all.run();
    ASSERT_EQ(all.received[target].size(), 3U);
    EXPECT_EQ(all.received[target][0].number, 1U);
    EXPECT_EQ(all.received[target][1].number, 1U);
    EXPECT_EQ(all.received[target][2].number, 2U) << "behind what was sent before it, though that leaves late";
    EXPECT_GE(all.received[target][0].when_ns, long_work.count());
    EXPECT_FALSE(all.ends[0]->unsent());
  }
}

}  // namespace
}  // namespace nacre::transport::sim_tests
