// SPDX-License-Identifier: Apache-2.0
// What a rank keeps of objects that are elsewhere, or have ended.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "location_kit.hpp"
#include "runtime/engine.hpp"

namespace nacre {
namespace {

/// What a rank keeps of objects that were there once, made elsewhere, and that it has never sent to.
TEST(location_cache, bounds_what_a_rank_remembers_of_objects_that_have_left) {
  constexpr int objects = 400;
  constexpr std::size_t remembered_max = 16;
  config configuration = simulated(3);
  configuration.set("location_cache", std::to_string(remembered_max));
  std::size_t known = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  std::vector<mobile_ptr<wanderer>> all;
                  if (rt.rank() == rank_id(0)) {
                    for (int index = 0; index < objects; ++index) all.push_back(rt.create<wanderer>());
                  }
                  for (const std::uint32_t target : {1U, 2U}) {
                    // One after the other, so that a home knows of one departure before the next.
                    for (const auto each : all) rt.migrate(each, rank_id(target)).wait();
                  }
                  rt.wait_quiescence();
                  if (rt.rank() == rank_id(0))
                    rt.send<tell_known>(rank_id(1), reinterpret_cast<std::uintptr_t>(&known));
                  rt.wait_quiescence();
                  for (const auto each : all) rt.send<&wanderer::meet>(each);
                }),
            0);
  EXPECT_LE(known, remembered_max + 2);
  EXPECT_GT(known, 0U);
}

/// What a rank keeps of objects that it has been told of by `broadcast_update`, and that have ended since.
TEST(location_cache, bounds_what_a_rank_remembers_of_ended_objects_that_it_has_been_told_of) {
  constexpr int objects = 2000;
  constexpr std::size_t remembered_max = 16;
  config configuration = simulated(3);
  configuration.set("location", "broadcast_update");
  configuration.set("location_cache", std::to_string(remembered_max));
  std::size_t known = 0;
  std::uint64_t told = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  if (rt.rank() == rank_id(0)) {
                    for (int index = 0; index < objects; ++index) {
                      const mobile_ptr<wanderer> each = rt.create<wanderer>();
                      static_cast<void>(rt.migrate(each, rank_id(1)));
                      rt.destroy(each);
                    }
                  }
                  rt.wait_quiescence();
                  if (rt.rank() == rank_id(2)) {
                    rt.send<tell_known>(rank_id(2), reinterpret_cast<std::uintptr_t>(&known));
                    told = rt.counters().updates_received;
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_GT(told, static_cast<std::uint64_t>(objects) / 2) << "too few objects have moved before their end";
  EXPECT_LE(known, remembered_max + 2);
}

/// Sends to all of them again and again, for as long as they are under way.
void pursue_all(context& ctx, const std::vector<mobile_ptr<wanderer>>& all, int times) {
  ctx.charge(200e-9);
  for (const auto each : all) ctx.send<&wanderer::meet>(each);
  if (times != 1) ctx.send<pursue_all>(ctx.rank(), all, times - 1);
}

/// Rank 1 may keep one entry, so that it asks the home about the others before that has heard of their arrival on rank
/// 2. Were it told to forget them, it would send back to the home what comes from there meanwhile.
TEST(location_cache, keeps_the_way_to_an_object_until_its_home_knows_where_that_is) {
  constexpr int times = 40;
  constexpr std::size_t objects = 8;
  config configuration = simulated(4);
  configuration.set("sim.jitter", "0");
  configuration.set("location", "lazy_forwarding");
  configuration.set("location_cache", "1");
  std::uint64_t by_home = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  std::vector<mobile_ptr<wanderer>> all;
                  if (rt.rank() == rank_id(0)) {
                    for (std::size_t index = 0; index < objects; ++index) all.push_back(rt.create<wanderer>());
                    for (const auto each : all) rt.migrate(each, rank_id(1)).wait();
                  }
                  rt.wait_quiescence();
                  const std::uint64_t previous = rt.counters().forwards;
                  if (rt.rank() == rank_id(0)) {
                    rt.send<pursue_all>(rank_id(3), all, times);
                    for (const auto each : all) static_cast<void>(rt.migrate(each, rank_id(2)));
                  }
                  rt.wait_quiescence();
                  if (rt.rank() == rank_id(0)) by_home = rt.counters().forwards - previous;
                }),
            0);
  EXPECT_EQ(by_home, times * objects) << "a message has come to its object's home twice";
}

/// A rank answers for the home of an object that nobody has asked about: the asker's list would grow.
void answer_unasked(context& ctx, std::uint64_t object) {
  ctx.core().messages().post_to_module<&entry_review::on_collect_answered>(detail::thread_of(ctx), rank_id(1), object,
                                                                           1U, false);
}

TEST(location_cache_death, a_home_that_answers_without_having_been_asked_ends_the_job) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  config configuration;
  configuration.set("ranks", "2");
  EXPECT_EXIT(std::exit(run(configuration,
                            [](runtime& rt) {
                              if (rt.rank() != rank_id(0)) return;
                              const auto object = rt.create<wanderer>();
                              rt.migrate(object, rank_id(1)).get();
                              rt.send<answer_unasked>(rank_id(0), object.id().value());
                            })),
              testing::ExitedWithCode(1), "answered what its home had not been asked");
}

}  // namespace
}  // namespace nacre
