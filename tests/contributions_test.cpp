// SPDX-License-Identifier: Apache-2.0
// Contributions, sections and messages that are kept: misuse is told, what is missing is named, many cost little.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

struct gatherer {
  std::uint64_t steps = 0, total = 0, others = 0;
  void on_sum(context&, std::uint64_t, std::uint64_t sum) {
    ++steps;
    total += sum;
  }
  void on_other(context&, std::uint64_t, std::uint64_t sum) { others += sum; }
  std::uint64_t sum() const { return total; }
  std::uint64_t sum_of_others() const { return others; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(steps, total, others);
  }
};

struct throws {
  std::uint64_t operator()(std::uint64_t, std::uint64_t) const { throw std::range_error("too much"); }
};

struct tile {
  std::uint64_t unused = 0;

  void once(context& ctx, std::uint64_t step, mobile_ptr<gatherer> object) {
    ctx.contribute<&gatherer::on_sum>(step, 1U, std::plus<>{}, object);
  }
  void twice(context& ctx, mobile_ptr<gatherer> object) {
    once(ctx, 7, object);
    once(ctx, 7, object);
  }
  void to_others(context& ctx, mobile_ptr<gatherer> object, mobile_ptr<gatherer> other) {
    if (ctx.index()[0] == 2) return ctx.contribute<&gatherer::on_sum>(1, 1U, std::plus<>{}, other);
    once(ctx, 1, object);
  }
  void by_others(context& ctx, mobile_ptr<gatherer> object) {
    if (ctx.index()[0] == 2) return ctx.contribute<&gatherer::on_sum>(1, 1U, std::bit_or<>{}, object);
    once(ctx, 1, object);
  }
  /// Two reductions of one step, in either order.
  void both(context& ctx, std::uint64_t step, mobile_ptr<gatherer> object) {
    const bool first = (static_cast<std::uint64_t>(ctx.index()[0]) + step) % 2 == 0;
    if (first) once(ctx, step, object);
    ctx.contribute<&gatherer::on_other>(step, 2U, std::plus<>{}, object);
    if (!first) once(ctx, step, object);
  }
  void badly(context& ctx, mobile_ptr<gatherer> object) { ctx.contribute<&gatherer::on_sum>(1, 1U, throws(), object); }
  void most(context& ctx, mobile_ptr<gatherer> object) {
    if (ctx.index()[0] < 7) once(ctx, 5, object);
  }
  void late(context& ctx, mobile_ptr<gatherer> object) {
    if (ctx.index()[0] >= 3 && ctx.index()[0] < 8) once(ctx, 5, object);
  }
  void in_section(context& ctx, const section_ptr& section_ptr, std::uint64_t step, mobile_ptr<gatherer> object) {
    ctx.contribute<&gatherer::on_sum>(section_ptr, step, 1U, std::plus<>{}, object);
  }
  awaited<> halo(std::uint64_t) { return {}; }
  task<void> wait(context& ctx) { co_await ctx.next<&tile::halo>(12); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unused);
  }
};

struct loner {
  void give(context& ctx, mobile_ptr<gatherer> object) {
    ctx.contribute<&gatherer::on_sum>(1, 1U, std::plus<>{}, object);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Ends the process as the job ends.
template <class Ask>
void job(const char* transport, const char* ranks, Ask ask) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", ranks);
  std::exit(run(configuration, [&](runtime& rt) {
    const auto grid = rt.create_array<tile>(extents{9});
    const auto object = rt.create<gatherer>();
    if (rt.rank().value() == 0) ask(rt, grid, object);
    rt.wait_quiescence();
    rt.barrier();
  }));
}

using grid_of_tiles = array_ptr<tile>;

class contributions_death : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(contributions_death, to_sections_tell_what_to_write_instead) {
  const char* const range = GetParam();
  EXPECT_EXIT(job(range, "2",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) {
                    const auto some = rt.create_section(section(grid, index_range{{0}, {4}, {1}})).get();
                    rt.send<&tile::in_section>(grid, some, 1, target);
                  }),
              testing::ExitedWithCode(1),
              "element .[4-8]. of array 1 contributes to a section that does not have its place: send what");
  EXPECT_EXIT(job(range, "2",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) {
                    const auto some = rt.create_section(section(grid, index_range{{0}, {9}, {1}})).get();
                    rt.destroy_section(some).get();
                    rt.send<&tile::in_section>(grid[2], some, 1, target);
                    rt.wait_quiescence();
                    throw usage_error("went on");
                  }),
              testing::ExitedWithCode(1), "contribute to a section that has been destroyed|went on");
  EXPECT_EXIT(job(range, "1",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) {
                    rt.send<&tile::in_section>(grid[2], section_ptr(), 1, target);
                  }),
              testing::ExitedWithCode(1), "take the one that rt.create_section returns");
  EXPECT_EXIT(job(range, "2",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) {
                    const section some(grid, index_range{{0}, {4}, {1}});
                    const auto name = rt.create_section(some).get();
                    rt.send<&tile::in_section>(some, name, 7, target);
                    rt.send<&tile::in_section>(grid[3], name, 7, target);
                  }),
              testing::ExitedWithCode(1), "element .3. of array 1 .*contributes (twice )?to step 7 of a section");
}

TEST_P(contributions_death, tell_what_to_write_instead) {
  const char* const range = GetParam();
  EXPECT_EXIT(
      job(range, "2", [](runtime& rt, const grid_of_tiles& grid, auto target) { rt.send<&tile::twice>(grid, target); }),
      testing::ExitedWithCode(1), "contributes twice to step 7.*: give one value for each step");
  EXPECT_EXIT(job(range, "2",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) {
                    rt.send<&tile::to_others>(grid, target, rt.create<gatherer>());
                  }),
              testing::ExitedWithCode(1), "to another target.*: write one handler, one operation and one target");
  EXPECT_EXIT(job(range, "2",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) { rt.send<&tile::by_others>(grid, target); }),
              testing::ExitedWithCode(1), "on_sum by .* instead of .*on_sum by .*: write one handler");
  EXPECT_EXIT(job(range, "1",
                  [](runtime& rt, const grid_of_tiles& grid, auto target) {
                    rt.send<&tile::once>(grid, 3, target);
                    rt.wait_quiescence();
                    rt.send<&tile::once>(grid, 3, target);
                  }),
              testing::ExitedWithCode(1), "step 3, which has ended: use each number for one step");
  EXPECT_EXIT(
      job(range, "3", [](runtime& rt, const grid_of_tiles& grid, auto target) { rt.send<&tile::badly>(grid, target); }),
      testing::ExitedWithCode(1), "combining the values of step 1.* threw: .*too much");
  EXPECT_EXIT(
      job(range, "1",
          [](runtime& rt, const grid_of_tiles&, auto target) { rt.send<&loner::give>(rt.create<loner>(), target); }),
      testing::ExitedWithCode(1), "contribute in a handler that runs on no element of an array");
  EXPECT_EXIT(job(range, "1",
                  [](runtime& rt, const grid_of_tiles& grid, auto) {
                    rt.send<&tile::once>(grid[1], 1, mobile_ptr<gatherer>());
                  }),
              testing::ExitedWithCode(1), "contribute for a mobile_ptr or array_ptr that names nothing");
}
INSTANTIATE_TEST_SUITE_P(over, contributions_death, testing::Values("inproc", "sim"),
                         [](const auto& subject) { return std::string(subject.param); });

TEST(contributions, that_are_missing_are_named_in_the_report_of_a_deadlock) {
  EXPECT_EXIT(
      job("sim", "2", [](runtime& rt, const grid_of_tiles& grid, auto target) { rt.send<&tile::most>(grid, target); }),
      testing::ExitedWithCode(1), "deadlock: .*step 5 of array 1: 9 of .*tile lacks 2 of 4 contributions of rank 1");
}

TEST(messages_that_are_kept, are_named_in_the_report_of_a_deadlock_when_they_do_not_come) {
  EXPECT_EXIT(job("sim", "2", [](runtime& rt, const grid_of_tiles& grid, auto) { rt.send<&tile::wait>(grid[8]); }),
              testing::ExitedWithCode(1), "deadlock: .*tile::wait awaits .*tile::halo with the number 12");
}

TEST(contributions, of_two_reductions_have_the_same_step_numbers) {
  constexpr std::uint64_t steps = 5;
  for (const char* transport : {"inproc", "sim"}) {
    config configuration;
    configuration.set("transport", transport);
    configuration.set("ranks", "3");
    EXPECT_EQ(run(configuration,
                  [&](runtime& rt) {
                    const auto grid = rt.create_array<tile>(extents{9});
                    if (rt.rank().value() != 0) return rt.wait_quiescence();
                    const auto object = rt.create<gatherer>();
                    for (std::uint64_t step = 0; step < steps; ++step) rt.send<&tile::both>(grid, step, object);
                    rt.wait_quiescence();
                    EXPECT_EQ(rt.call<&gatherer::sum>(object).get(), 9 * steps);
                    EXPECT_EQ(rt.call<&gatherer::sum_of_others>(object).get(), 18 * steps);
                  }),
              0)
        << transport;
  }
}

TEST(contributions, to_a_section_cost_in_proportion_to_its_places) {
  const std::int64_t elements = sanitized ? 20000 : 1000000, each = 10;
  constexpr std::uint64_t steps = 3;
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "2");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto grid = rt.create_array<tile>(extents{elements});
                  if (rt.rank().value() == 0) {
                    const auto object = rt.create<gatherer>();
                    const section tenth(grid, index_range{{0}, {elements}, {each}});
                    const section_ptr name = rt.create_section(tenth).get();
                    for (std::uint64_t step = 0; step < steps; ++step)
                      rt.send<&tile::in_section>(tenth, name, step, object);
                    rt.wait_quiescence();
                    EXPECT_EQ(rt.call<&gatherer::sum>(object).get(),
                              steps * static_cast<std::uint64_t>(elements / each));
                    rt.destroy_section(name).get();
                    EXPECT_THROW(rt.destroy_section(name).get(), call_error);
                  }
                  rt.wait_quiescence();
                  rt.barrier();
                  rt.destroy(grid);
                }),
            0);
}

TEST(contributions, to_an_array_that_ends_are_reported) {
  int reported = 0;
  run_simulated({{"ranks", "3"}}, [&](runtime& rt) {
    rt.on_delivery_error([&](const delivery_error& error) {
      reported += error.why.find("before a step of contributions was complete") != std::string_view::npos ? 1 : 0;
    });
    const auto grid = rt.create_array<tile>(extents{9});
    const auto object = rt.create<gatherer>();
    if (rt.rank().value() == 0) rt.call<&tile::most>(grid, object).get();
    rt.barrier();
    rt.destroy(grid);
  });
  EXPECT_GT(reported, 0);
}

TEST(contributions, that_are_lost_name_the_first_element_that_has_given_one_of_them_and_what_it_was_for) {
  std::set<std::uint64_t> lost, given;
  std::set<std::string> names;
  run_simulated({{"ranks", "3"}}, [&](runtime& rt) {
    rt.on_delivery_error([&](const delivery_error& error) {
      lost.insert(error.object.value());
      names.insert(std::string(error.handler));
    });
    const auto grid = rt.create_array<tile>(extents{9});
    const auto object = rt.create<gatherer>();
    if (rt.rank().value() == 0) rt.call<&tile::late>(grid, object).get();
    rt.barrier();
    for (const std::int64_t first_of_rank : {3, 6}) given.insert(grid[{first_of_rank}].id().value());
    rt.destroy(grid);
  });
  EXPECT_EQ(lost, given);
  ASSERT_EQ(names.size(), 1U);
  const std::string& name = *names.begin();
  EXPECT_NE(name.find("gatherer::on_sum by std::plus<"), std::string::npos) << name;
  EXPECT_EQ(name.find("with"), std::string::npos) << name;
}

TEST(contributions, of_many_elements_to_many_steps_all_arrive) {
  const std::int64_t elements = sanitized ? 2000 : 20000;
  constexpr std::uint64_t steps = 30;
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "2");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto grid = rt.create_array<tile>(extents{elements});
                  if (rt.rank().value() == 0) {
                    const auto object = rt.create<gatherer>();
                    for (std::uint64_t step = 0; step < steps; ++step) rt.send<&tile::once>(grid, step, object);
                    rt.wait_quiescence();
                    EXPECT_EQ(rt.call<&gatherer::sum>(object).get(), steps * static_cast<std::uint64_t>(elements));
                  }
                  rt.wait_quiescence();
                  rt.barrier();
                  rt.destroy(grid);
                }),
            0);
}

struct store {
  std::uint64_t sum = 0;
  awaited<> put(std::uint64_t, std::uint64_t number) {
    sum += number;
    return {};
  }
  task<std::uint64_t> take(context& ctx, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = last; step-- > first;) co_await ctx.next<&store::put>(step);
    co_return sum;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum);
  }
};

TEST(messages_that_are_kept, are_found_among_a_hundred_thousand_and_move_with_their_object) {
  const std::uint64_t count = sanitized ? 10000 : 100000;
  for (const char* const by_pointer : {"inproc", "sim"}) {
    config configuration;
    configuration.set("transport", by_pointer);
    configuration.set("ranks", "2");
    EXPECT_EQ(run(configuration,
                  [&](runtime& rt) {
                    if (rt.rank().value() != 0) return;
                    const auto object = rt.create<store>();
                    for (std::uint64_t step = 0; step < count; ++step) rt.send<&store::put>(object, step, 1U);
                    EXPECT_EQ(rt.call<&store::take>(object, 0, count / 2).get(), count / 2);
                    rt.migrate(object, rank_id(1)).get();
                    EXPECT_EQ(rt.call<&store::take>(object, count / 2, count).get(), count);
                  }),
              0);
  }
}

}  // namespace
}  // namespace nacre::tests
