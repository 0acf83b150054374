// SPDX-License-Identifier: Apache-2.0
// Phases of a program in its summary and its trace, in virtual time and on threads.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include <nacre/nacre.hpp>

#include "phase_test_kit.hpp"

namespace {

using nacre::tests::phases_of;
using nacre::tests::phases_under_sim;

constexpr double ms = 1e-3;
constexpr double near = 0.1 * ms;  // the runtime's own work costs virtual time, too

void expect_times(const nlohmann::json& row, std::uint64_t count, double own_value, double whole, double elapsed) {
  EXPECT_EQ(row["count"], count) << row;
  EXPECT_NEAR(row["seconds"].get<double>(), own_value, near) << row;
  EXPECT_NEAR(row["whole_seconds"].get<double>(), whole, near) << row;
  EXPECT_NEAR(row["elapsed_seconds"].get<double>(), elapsed, near) << row;
}

void nested(nacre::context& ctx) {
  const nacre::phase outer(ctx, "outer");
  ctx.charge(1 * ms);
  for (int each = 0; each < 2; ++each) {
    const nacre::phase inner(ctx, "inner");
    ctx.charge(2 * ms);
  }
  ctx.charge(3 * ms);
}

TEST(phase, that_is_inside_another_one_is_taken_out_of_its_time) {
  const auto rows = phases_of(phases_under_sim(), [](nacre::runtime& rt) {
    rt.send<nested>(rt.rank());
    rt.send(rt.rank(), [](nacre::context& ctx) { ctx.charge(50 * ms); });
  });
  ASSERT_EQ(rows.size(), 2U);
  expect_times(rows.at("outer"), 1, 4 * ms, 8 * ms, 8 * ms);
  expect_times(rows.at("inner"), 2, 4 * ms, 4 * ms, 4 * ms);
}

void recursive(nacre::context& ctx, int depth) {
  const nacre::phase phase(ctx, "descend");
  ctx.charge(1 * ms);
  if (depth > 1) recursive(ctx, depth - 1);
}

TEST(phase, inside_one_of_its_own_name_does_not_count_twice) {
  const auto rows = phases_of(phases_under_sim(), [](nacre::runtime& rt) {
    rt.send(rt.rank(), [](nacre::context& ctx) { recursive(ctx, 5); });
  });
  expect_times(rows.at("descend"), 5, 5 * ms, 5 * ms, 5 * ms);
}

/// Sleeps in a phase and in one inside it.
nacre::task<void> sleeper(nacre::context& ctx) {
  const nacre::phase outer(ctx, "outer");
  ctx.charge(1 * ms);
  {
    const nacre::phase inner(ctx, "inner");
    co_await ctx.sleep(100 * ms);
    ctx.charge(2 * ms);
  }
  co_await ctx.sleep(100 * ms);
  ctx.charge(1 * ms);
}

TEST(phase, of_a_coroutine_has_no_time_while_it_waits) {
  const auto rows = phases_of(phases_under_sim(), [](nacre::runtime& rt) {
    rt.send<sleeper>(rt.rank());
    // Others work meanwhile, with and without a phase, and both wait, too.
    rt.send(rt.rank(), [](nacre::context& ctx) { ctx.charge(20 * ms); });
    rt.send(rt.rank(), [](nacre::context& ctx) -> nacre::task<void> {
      const nacre::phase site(ctx, "other");
      for (int each = 0; each < 10; ++each) {
        ctx.charge(3 * ms);
        co_await ctx.sleep(1 * ms);
      }
    });
  });
  expect_times(rows.at("outer"), 1, 2 * ms, 4 * ms, 204 * ms);
  expect_times(rows.at("inner"), 1, 2 * ms, 2 * ms, 102 * ms);
  EXPECT_NEAR(rows.at("other")["seconds"].get<double>(), 30 * ms, near);
  EXPECT_NEAR(rows.at("other")["whole_seconds"].get<double>(), 30 * ms, near);
}

nacre::task<int> inner_task(nacre::context& ctx) {
  const nacre::phase phase(ctx, "inner");
  ctx.charge(1 * ms);
  co_await ctx.sleep(10 * ms);
  ctx.charge(1 * ms);
  throw std::runtime_error("it ends by an exception");
}

TEST(phase, ends_with_an_exception_also_in_a_coroutine_that_another_one_awaits) {
  const auto rows = phases_of(phases_under_sim(), [](nacre::runtime& rt) {
    const auto failing = [](nacre::context& ctx) -> int {
      const nacre::phase site(ctx, "failing");
      ctx.charge(5 * ms);
      throw std::runtime_error("it fails");
    };
    EXPECT_THROW(rt.call(rt.rank(), failing).get(), nacre::call_error);
    const auto outer = [](nacre::context& ctx) -> nacre::task<int> {
      const nacre::phase site(ctx, "outer");
      try {
        co_await inner_task(ctx);
      } catch (const std::runtime_error&) {
        ctx.charge(3 * ms);
      }
      co_return 7;
    };
    EXPECT_EQ(rt.call(rt.rank(), outer).get(), 7);
    rt.call(rt.rank(), [](nacre::context& ctx) {
        ctx.charge(9 * ms);
        return 0;
      }).get();
  });
  expect_times(rows.at("failing"), 1, 5 * ms, 5 * ms, 5 * ms);
  expect_times(rows.at("inner"), 1, 2 * ms, 2 * ms, 12 * ms);
  expect_times(rows.at("outer"), 1, 3 * ms, 5 * ms, 15 * ms);
}

TEST(phase, of_main_has_no_time_while_main_waits) {
  const auto rows = phases_of(phases_under_sim("2"), [](nacre::runtime& rt) {
    const nacre::phase site(rt, "solve");
    rt.send(rt.rank(), [](nacre::context& ctx) { ctx.charge(40 * ms); });
    rt.wait_quiescence();
  });
  const nlohmann::json& row = rows.at("solve");
  EXPECT_EQ(row["count"], 2);
  EXPECT_LT(row["seconds"].get<double>(), 10 * ms);
  EXPECT_LT(row["whole_seconds"].get<double>(), 10 * ms);
  EXPECT_GT(row["elapsed_seconds"].get<double>(), 80 * ms) << "of two ranks";
}

TEST(phase, that_ends_before_one_inside_it_leaves_that_going_on) {
  const auto rows = phases_of(phases_under_sim(), [](nacre::runtime& rt) {
    rt.send(rt.rank(), [](nacre::context& ctx) {
      std::optional<nacre::phase> first, second;
      first.emplace(ctx, "first");
      ctx.charge(1 * ms);
      second.emplace(ctx, "second");
      ctx.charge(2 * ms);
      first.reset();
      ctx.charge(4 * ms);
      second.reset();
      ctx.charge(50 * ms);
    });
  });
  expect_times(rows.at("first"), 1, 1 * ms, 3 * ms, 3 * ms);
  expect_times(rows.at("second"), 1, 6 * ms, 6 * ms, 6 * ms);
}

TEST(phase, of_all_ranks_is_in_the_summary_with_the_rank_that_has_the_most) {
  const auto rows = phases_of(phases_under_sim("4"), [](nacre::runtime& rt) {
    rt.send(rt.rank(), [](nacre::context& ctx) {
      const nacre::phase site(ctx, "step");
      ctx.charge((ctx.rank().value() == 2 ? 9 : 1) * ms);
      if (ctx.rank().value() != 1) return;
      const nacre::phase only(ctx, "only on rank " + std::to_string(ctx.rank().value()));
      ctx.charge(4 * ms);
    });
  });
  ASSERT_EQ(rows.size(), 2U);
  expect_times(rows.at("step"), 4, 12 * ms, 16 * ms, 16 * ms);
  EXPECT_NEAR(rows.at("step")["mean_seconds"].get<double>(), 3 * ms, near);
  EXPECT_NEAR(rows.at("step")["most_seconds"].get<double>(), 9 * ms, near);
  EXPECT_EQ(rows.at("step")["most_rank"], 2);
  EXPECT_NEAR(rows.at("step")["imbalance"].get<double>(), 3, 0.1);
  expect_times(rows.at("only on rank 1"), 1, 4 * ms, 4 * ms, 4 * ms);
  EXPECT_EQ(rows.at("only on rank 1")["most_rank"], 1);
  EXPECT_NEAR(rows.at("only on rank 1")["imbalance"].get<double>(), 4, 0.1) << "three ranks have none of it";
}

TEST(phase, names_are_bounded) {
  const auto rows = phases_of(phases_under_sim(), [](nacre::runtime& rt) {
    rt.send(rt.rank(), [](nacre::context& ctx) {
      const auto once = [&](const std::string& name) {
        const nacre::phase site(ctx, name);
        ctx.charge(1 * ms);
      };
      once("");
      once(std::string(63, 'x') + "\xc3\xa4");  // a character of two bytes
      once("two\nlines");
      for (int each = 0; each < 300; ++each) once("name " + std::to_string(each));
      once("name 0");
    });
  });
  EXPECT_EQ(rows.size(), 256U);
  EXPECT_EQ(rows.at("(unnamed)")["count"], 1);
  EXPECT_EQ(rows.at(std::string(63, 'x'))["count"], 1);
  EXPECT_EQ(rows.at("two?lines")["count"], 1);
  EXPECT_EQ(rows.at("name 0")["count"], 2);
  EXPECT_EQ(rows.at("name 251")["count"], 1);
  EXPECT_EQ(rows.count("name 252"), 0U);
  expect_times(rows.at("(other phases)"), 48, 48 * ms, 48 * ms, 48 * ms);
}

TEST(phase, is_printed_with_the_summary_and_nothing_is_printed_without_one) {
  nacre::config configuration = phases_under_sim();
  configuration.set("summary", "true");
  const auto main = [](nacre::runtime& rt) { rt.send<nested>(rt.rank()); };
  testing::internal::CaptureStderr();
  EXPECT_EQ(nacre::run(configuration, main), 0);
  const std::string told = testing::internal::GetCapturedStderr();
  const std::size_t heading = told.find(" phases ");
  ASSERT_NE(heading, told.npos) << told;
  EXPECT_NE(told.find("  outer\n", heading), told.npos) << told;
  EXPECT_NE(told.find("  inner\n", heading), told.npos) << told;

  testing::internal::CaptureStderr();
  EXPECT_EQ(nacre::run(configuration, [](nacre::runtime&) {}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("phase"), std::string::npos) << "there is none";
  testing::internal::CaptureStderr();
  EXPECT_EQ(nacre::run(phases_under_sim(), main), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
