// SPDX-License-Identifier: Apache-2.0
// Groups on threads and on a simulated machine, and what ends a job that uses them wrongly.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include <nacre/nacre.hpp>

#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

config ranks_on(const char* transport, int ranks) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "2");
  configuration.set("balancer", "none");
  return configuration;
}

class groups : public testing::TestWithParam<const char*> {};

TEST_P(groups, have_one_object_on_every_rank) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    ASSERT_EQ(run(ranks_on(GetParam(), ranks),
                  [](runtime& rt) {
                    for (const scenario& each : group_scenarios()) each.run(rt, 3), rt.wait_quiescence();
                  }),
              0);
    ASSERT_FALSE(HasFailure()) << ranks << " ranks";
  }
}

struct slow_reader {
  std::atomic<int>& done;
  explicit slow_reader(std::atomic<int>& counter) : done(counter) {}
  task<int> load(context& ctx, std::uint32_t broken) {
    if (ctx.rank().value() == broken) throw std::runtime_error("cannot be read");
    co_await ctx.sleep(0.02);
    ++done;
    co_return 1;
  }
};

/// So a program that goes on after an error knows that nobody is at work still.
TEST_P(groups, answer_a_call_when_all_have_run_also_where_one_threw) {
  for (std::uint32_t broken = 0; broken < 5; ++broken) {
    std::atomic<int> done{0};
    ASSERT_EQ(run(ranks_on(GetParam(), 5),
                  [&](runtime& rt) {
                    const auto all = rt.create_group<slow_reader>(done);
                    if (rt.rank().value() != 0) return;
                    EXPECT_THROW(rt.call<&slow_reader::load>(all, broken).get(), call_error);
                    EXPECT_EQ(done, 4);
                    EXPECT_THROW(rt.reduce<&slow_reader::load>(all, std::plus<>{}, broken).get(), call_error);
                    EXPECT_EQ(done, 8);
                    EXPECT_EQ(rt.reduce<&slow_reader::load>(all, std::plus<>{}, 99U).get(), 5);
                  }),
              0);
  }
}

struct counted {
  std::atomic<int>& alive;
  explicit counted(std::atomic<int>& index) : alive(index) { ++alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  void use() {}
};

TEST_P(groups, end_with_the_job_at_the_latest) {
  std::atomic<int> alive{0};
  const auto main = [&](runtime& rt) {
    const auto kept = rt.create_group<counted>(alive);
    const auto ended = rt.create_group<counted>(alive);
    rt.barrier();
    EXPECT_EQ(alive, 6);
    rt.destroy(ended);
    rt.barrier();
    EXPECT_EQ(alive, 3);
    rt.send<&counted::use>(kept);
  };
  EXPECT_EQ(run(ranks_on(GetParam(), 3), main), 0);
  EXPECT_EQ(alive, 0);
}

INSTANTIATE_TEST_SUITE_P(everywhere, groups, testing::Values("inproc", "sim"),
                         [](const auto& given) { return std::string(given.param); });

int use_after_end(const char* transport) {
  return run(ranks_on(transport, 2), [](runtime& rt) {
    std::atomic<int> alive{0};
    const auto g = rt.create_group<counted>(alive);
    rt.destroy(g);
    if (rt.rank().value() == 0) rt.send<&counted::use>(g[rank_id{1}]);
    rt.wait_quiescence();
  });
}

int different_orders(const char* transport) {
  return run(ranks_on(transport, 2), [](runtime& rt) {
    std::atomic<int> alive{0};
    if (rt.rank().value() == 0) static_cast<void>(rt.create_group<counted>(alive));
    if (rt.rank().value() == 1) static_cast<void>(rt.create_group<int>(1));
  });
}

TEST(groups_DeathTest, a_message_to_one_that_has_ended_ends_the_job_with_a_line_that_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(use_after_end("sim")), testing::ExitedWithCode(1),
              "counted::use threw: group 1 of .*counted is not, or no longer, there");
}

TEST(groups_DeathTest, ranks_that_make_different_ones_end_with_a_line_about_both) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(different_orders("sim")), testing::ExitedWithCode(1),
              "do not make and destroy the same groups in the same order: makes group 1 of .*; makes group 1 of ");
}

}  // namespace
}  // namespace nacre::tests
