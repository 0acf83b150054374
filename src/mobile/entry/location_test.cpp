// SPDX-License-Identifier: Apache-2.0
// The promises of shared_location, each as a sentence.
#include "mobile/entry/location.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nacre {
namespace {

TEST(shared_location, a_fact_comes_back_as_it_was_learned) {
  shared_location known({rank_id(0), 0});
  const known_location far{rank_id(object_id::home_max), 0xffffffffU, location_policy::home, true, true, true};
  EXPECT_TRUE(known.learn(far));
  EXPECT_EQ(known.read(), far);
}

TEST(shared_location, an_update_that_is_not_newer_changes_nothing) {
  shared_location known({rank_id(1), 5});
  EXPECT_FALSE(known.learn({rank_id(2), 5}));
  EXPECT_FALSE(known.learn({rank_id(2), 4}));
  EXPECT_EQ(known.read(), (known_location{rank_id(1), 5}));
  EXPECT_TRUE(known.learn({rank_id(2), 6}));
  EXPECT_EQ(known.read(), (known_location{rank_id(2), 6}));
}

TEST(shared_location, what_the_place_of_an_object_tells_is_better_than_what_its_leaving_told) {
  const auto policy = location_policy::home;
  shared_location known({rank_id(1), 5, policy, true});
  EXPECT_FALSE(known.learn({rank_id(1), 5, policy, true}));
  EXPECT_TRUE(known.learn({rank_id(1), 5, policy}));
  EXPECT_FALSE(known.learn({rank_id(1), 5, policy, true}));
  EXPECT_FALSE(known.read().by_home);
}

TEST(shared_location, a_backlog_is_settled_in_its_own_epoch_alone) {
  const auto policy = location_policy::jump_update;
  shared_location left({rank_id(1), 5, policy, false, false, true});
  EXPECT_TRUE(left.keep());
  left.end_backlog(4);
  left.end_backlog(6);
  EXPECT_TRUE(left.read().backlog) << "another departure was meant";
  left.end_backlog(5);
  EXPECT_EQ(left.read(), (known_location{rank_id(1), 5, policy}));
  EXPECT_TRUE(left.sent());
  EXPECT_TRUE(left.learn({rank_id(2), 7, policy, false, false, true}));
  left.end_backlog(5);
  EXPECT_TRUE(left.read().backlog) << "it left again";
}

TEST(shared_location, an_entry_is_kept_or_collected_but_never_both) {
  shared_location sent({rank_id(1), 5});
  EXPECT_FALSE(sent.sent());
  EXPECT_TRUE(sent.keep());
  EXPECT_TRUE(sent.sent());
  EXPECT_FALSE(sent.collect(5)) << "its numbering would begin again";
  EXPECT_TRUE(sent.keep());
  shared_location left({rank_id(1), 5});
  EXPECT_FALSE(left.collect(4)) << "another departure was meant";
  EXPECT_TRUE(left.collect(5));
  EXPECT_TRUE(left.collected());
  EXPECT_FALSE(left.collect(5));
  EXPECT_FALSE(left.keep());
}

TEST(shared_location, of_many_threads_that_keep_and_one_that_collects_all_agree) {
  for (int round = 0; round < 300; ++round) {
    shared_location location({rank_id(1), 5});
    std::atomic<int> kept{0}, refused{0}, ready{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < 3; ++index) {
      threads.emplace_back([&] {
        for (ready.fetch_add(1); ready.load() < 4;) std::this_thread::yield();
        (location.keep() ? kept : refused).fetch_add(1);
      });
    }
    for (ready.fetch_add(1); ready.load() < 4;) std::this_thread::yield();
    const bool collected = location.collect(5);
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(collected ? refused.load() : kept.load(), 3);
  }
}

TEST(shared_location, learning_changes_nothing_about_the_use_of_an_entry) {
  shared_location location({rank_id(1), 5});
  EXPECT_TRUE(location.list());
  EXPECT_FALSE(location.list());
  EXPECT_TRUE(location.learn({rank_id(2), 6}));
  EXPECT_FALSE(location.list());
  EXPECT_TRUE(location.keep());
  EXPECT_TRUE(location.learn({rank_id(3), 7}));
  EXPECT_TRUE(location.sent());
  location.unlist();
  EXPECT_TRUE(location.list());
}

TEST(shared_location, of_updates_by_many_threads_the_newest_stays_and_no_reader_sees_time_go_back) {
  constexpr std::uint32_t updates = 3000;
  shared_location known({rank_id(0), 0});
  std::vector<std::thread> threads;
  for (std::uint32_t writer = 0; writer < 3; ++writer) {
    threads.emplace_back([&, writer] {
      for (std::uint32_t epoch = 1 + writer; epoch <= updates; epoch += 3) {
        static_cast<void>(known.learn({rank_id(epoch % 17), epoch}));
      }
    });
  }
  bool forward = true, whole = true;
  std::uint32_t previous = 0;
  while (previous < updates - 3) {
    const known_location now = known.read();
    forward = forward && now.epoch >= previous;
    whole = whole && now.rank == rank_id(now.epoch % 17);
    previous = now.epoch;
  }
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(forward);
  EXPECT_TRUE(whole);
  EXPECT_EQ(known.read().epoch, updates);
}

}  // namespace
}  // namespace nacre
