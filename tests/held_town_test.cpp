// SPDX-License-Identifier: Apache-2.0
// Images in the middle of a wait, of a program of many kinds of messages: it ends as if it had never been interrupted,
// on any number of ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "held_images.hpp"

namespace nacre::tests {
namespace {

/// Counts of a rank; handlers on a group run at the same time.
struct ballot {
  std::atomic<std::uint64_t> votes{0};
  void vote(std::uint64_t count) { votes += count; }
  std::uint64_t result() const { return votes; }
  void merge(ballot&& other) { votes += other.votes; }
  template <class Archive>
  void save(Archive& ar) const {
    ar(votes.load());
  }
  template <class Archive>
  void load(Archive& ar) {
    std::uint64_t count = 0;
    ar(count);
    votes = count;
  }
};

/// Answers calls.
struct clerk {
  std::uint64_t asked = 0;
  std::uint64_t ask() { return ++asked; }
  std::uint64_t result() const { return asked; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(asked);
  }
};

/// A tree of objects: each makes others, votes, and ends.
struct bush {
  std::uint32_t depth = 0;
  std::uint64_t seed = 0;
  group_ptr<ballot> ballots;
  bush() = default;
  bush(std::uint32_t height, std::uint64_t number, group_ptr<ballot> group)
      : depth(height), seed(number), ballots(group) {}
  void grow(context& ctx) {
    ctx.charge(2e-6);
    const std::uint64_t children = depth == 0 ? 0 : 1 + (seed >> 20) % 3;
    for (std::uint64_t child = 0; child < children; ++child) {
      const auto object = ctx.create<bush>(depth - 1, seed * 6364136223846793005ULL + child + 1, ballots);
      ctx.send<&bush::grow>(object);
    }
    ctx.send<&ballot::vote>(ballots[rank_id(static_cast<std::uint32_t>(seed % ctx.size()))], std::uint64_t{1});
    ctx.destroy(ctx.self<bush>());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(depth, seed, ballots);
  }
};

/// A stencil of plain handlers: a block goes on when both halos of its step have come.
struct block {
  struct halos {
    double left = 0, right = 0;
    int came = 0;
    template <class Archive>
    void serialize(Archive& ar) {
      ar(left, right, came);
    }
  };
  array_ptr<block> grid;
  mobile_ptr<clerk> office;
  std::int64_t number = 0, blocks = 0;
  int step = 0, last = 0;
  std::vector<double> cells = std::vector<double>(6, 0.0);
  std::map<int, halos> waiting;
  std::uint64_t waves = 0, answers = 0;

  void begin(context& ctx, array_ptr<block> all, mobile_ptr<clerk> asked, std::int64_t count, int steps) {
    grid = all;
    office = asked;
    number = ctx.index()[0];
    blocks = count;
    last = steps;
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      cells[cell] = static_cast<double>(number) + 0.1 * static_cast<double>(cell);
    tell(ctx);
  }
  void tell(context& ctx) const {
    ctx.send<&block::halo>(grid[{(number + 1) % blocks}], step, true, cells.back());
    ctx.send<&block::halo>(grid[{(number + blocks - 1) % blocks}], step, false, cells.front());
  }
  void halo(context& ctx, int of_step, bool from_left, double value) {
    halos& one = waiting[of_step];
    (from_left ? one.left : one.right) = value;
    ++one.came;
    while (step < last && waiting[step].came == 2) advance(ctx);
  }
  void advance(context& ctx) {
    ctx.charge(1e-6);
    const halos one = waiting[step];
    waiting.erase(step);
    std::vector<double> next = cells;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const double left = cell == 0 ? one.left : cells[cell - 1];
      const double right = cell + 1 == cells.size() ? one.right : cells[cell + 1];
      next[cell] = 0.25 * left + 0.5 * cells[cell] + 0.25 * right;
    }
    cells = std::move(next);
    ++step;
    if (number == 0 && step % 5 == 0) ctx.send<&block::wave>(grid);
    if (step % 4 == 0) ctx.send<&block::inquire>(ctx.self<block>());
    if (step < last) tell(ctx);
  }
  void wave(context& ctx) {
    ctx.charge(1e-6);
    ++waves;
  }
  task<void> inquire(context& ctx) {
    static_cast<void>(co_await ctx.call<&clerk::ask>(office));
    ++answers;
  }
  std::string text() const {
    std::string all = std::to_string(step) + " " + std::to_string(waves) + " " + std::to_string(answers);
    for (const double each : cells) all += " " + std::to_string(std::bit_cast<std::uint64_t>(each));
    return all;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(grid, office, number, blocks, step, last, cells, waiting, waves, answers);
  }
};

struct progress {
  array_ptr<block> grid;
  mobile_ptr<clerk> office;
  group_ptr<ballot> ballots;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(grid, office, ballots);
  }
};

struct outcome {
  int code = 0;
  std::string text;
  bool restored = false;
};

outcome live(config configuration, int steps, std::uint32_t depth) {
  constexpr std::int64_t blocks = 12;
  outcome result;
  result.code = run(std::move(configuration), [&](runtime& rt) {
    auto state = rt.restored<progress>();
    const bool first = rt.rank().value() == 0;
    if (first) result.restored = state.has_value();
    if (!state) {
      state.emplace();
      state->ballots = rt.create_group<ballot>();
      state->grid = rt.create_array<block>(extents{blocks});
      state->office = rt.broadcast(first ? rt.create<clerk>() : mobile_ptr<clerk>(), rank_id(0));
      if (first) {
        rt.send<&block::begin>(state->grid, state->grid, state->office, blocks, steps);
        rt.send<&bush::grow>(rt.create<bush>(depth, std::uint64_t{12345}, state->ballots));
      }
      rt.wait_quiescence(*state);
    }
    if (!first) return;
    result.text = std::to_string(rt.reduce<&ballot::result>(state->ballots, std::plus<>{}).get());
    result.text += " " + std::to_string(rt.call<&clerk::result>(state->office).get());
    for (std::int64_t number = 0; number < blocks; ++number)
      result.text += "\n" + rt.call<&block::text>(state->grid[{number}]).get();
  });
  return result;
}

struct held_town : held_images_of {};

TEST_F(held_town, ends_as_if_it_had_never_been_interrupted_on_any_number_of_ranks) {
  int interrupted = 0;
  const int seeds = static_cast<int>(rounds_in_one_thread(24));
  for (int seed = 1; seed <= seeds; ++seed) {
    std::filesystem::remove_all(folder);
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(seed) % 5;
    const outcome whole = live(drawn(ranks, seed), 40, 7);
    ASSERT_EQ(whole.code, 0);
    const outcome first = live(often(drawn(ranks, seed), seed % 2 == 0 ? "30us" : "150us"), 40, 7);
    EXPECT_EQ(first.text, whole.text) << seed;
    if (!go_back_to_messages()) continue;
    ++interrupted;
    for (const std::uint32_t others : {ranks, 1U, 2U, 3U, 7U}) {
      const outcome rest = live(restoring(drawn(others, seed + 1000)), 40, 7);
      ASSERT_EQ(rest.code, 0) << seed;
      EXPECT_TRUE(rest.restored);
      EXPECT_EQ(rest.text, whole.text) << seed << ", from " << ranks << " ranks to " << others;
    }
  }
  EXPECT_GE(interrupted, seeds / 2);
}

TEST_F(held_town, is_interrupted_again_and_again) {
  for (int seed = 1; seed <= static_cast<int>(rounds_in_one_thread(10)); ++seed) {
    std::filesystem::remove_all(folder);
    const outcome whole = live(drawn(3, seed), 60, 7);
    static_cast<void>(live(often(drawn(3, seed), "40us"), 60, 7));
    for (const std::uint32_t ranks : {3U, 2U, 4U, 4U}) {
      if (!go_back_to_messages()) break;
      const outcome rest = live(often(restoring(drawn(ranks, seed)), "40us"), 60, 7);
      EXPECT_EQ(rest.code, 0) << seed;
      EXPECT_EQ(rest.text, whole.text) << seed << ", " << ranks << " ranks";
    }
  }
}

TEST_F(held_town, is_interrupted_on_threads) {
  const outcome whole = live(options("inproc", 3), 400, 9);
  int interrupted = 0;
  for (int round = 0; round < 3; ++round) {
    std::filesystem::remove_all(folder);
    EXPECT_EQ(live(often(options("inproc", 3), "1ms"), 400, 9).text, whole.text);
    if (!go_back_to_messages()) continue;
    ++interrupted;
    for (const std::uint32_t ranks : {3U, 2U, 5U})
      EXPECT_EQ(live(restoring(options("inproc", ranks)), 400, 9).text, whole.text) << ranks;
  }
  EXPECT_GT(interrupted, 0);
}

}  // namespace
}  // namespace nacre::tests
