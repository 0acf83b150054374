// SPDX-License-Identifier: Apache-2.0
// The promises of shared_fact, each as a sentence.
#include "mobile/location/fact.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace nacre {
namespace {

TEST(shared_fact, a_fact_comes_back_as_it_was_learned) {
  shared_fact known({rank_id(0), 0});
  const location_fact far{rank_id(object_id::home_max), 0xffffffffU, true};
  EXPECT_TRUE(known.learn(far));
  EXPECT_EQ(known.read(), far);
}

TEST(shared_fact, an_update_that_is_not_newer_changes_nothing) {
  shared_fact known({rank_id(1), 5});
  EXPECT_FALSE(known.learn({rank_id(2), 5}));
  EXPECT_FALSE(known.learn({rank_id(2), 4}));
  EXPECT_EQ(known.read(), (location_fact{rank_id(1), 5}));
  EXPECT_TRUE(known.learn({rank_id(2), 6}));
  EXPECT_EQ(known.read(), (location_fact{rank_id(2), 6}));
}

TEST(shared_fact, of_updates_by_many_threads_the_newest_stays_and_no_reader_sees_time_go_back) {
  constexpr std::uint32_t updates = 3000;
  shared_fact known({rank_id(0), 0});
  std::vector<std::thread> threads;
  for (std::uint32_t writer = 0; writer < 3; ++writer) {
    threads.emplace_back([&, writer] {
      for (std::uint32_t epoch = 1 + writer; epoch <= updates; epoch += 3) {
        static_cast<void>(known.learn({rank_id(epoch % 17), epoch}));
      }
    });
  }
  bool forward = true, whole = true;
  std::uint32_t before = 0;
  while (before < updates - 3) {
    const location_fact now = known.read();
    forward = forward && now.epoch >= before;
    whole = whole && now.rank == rank_id(now.epoch % 17);
    before = now.epoch;
  }
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(forward);
  EXPECT_TRUE(whole);
  EXPECT_EQ(known.read().epoch, updates);
}

}  // namespace
}  // namespace nacre
