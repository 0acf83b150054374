// SPDX-License-Identifier: Apache-2.0
// Images in the middle of a wait: each message of the history that survives has run exactly once, and in order.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "held_images.hpp"

namespace nacre::tests {
namespace {

/// What a walker says of itself when all is over.
struct account {
  std::uint64_t sent = 0, ran = 0, wrong = 0;
  account& operator+=(const account& more) {
    sent += more.sent;
    ran += more.ran;
    wrong += more.wrong;
    return *this;
  }
};

/// Sends to its fellows, and keeps the numbers of all that it has sent and got: they move into images with it.
struct walker {
  using sender = std::pair<std::uint64_t, std::uint32_t>;  ///< an object, and which of its stays on a rank
  std::uint64_t name = 0, state = 0;
  std::vector<mobile_ptr<walker>> fellows;
  bool moves = false;
  std::uint32_t rank = ~std::uint32_t{0}, stay = 0;
  std::map<std::uint64_t, std::uint32_t> sent;  ///< in this stay, by fellow
  std::map<sender, std::uint32_t> got;
  account all;

  std::uint64_t draw(std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
  }
  void meet(std::uint64_t number, std::vector<mobile_ptr<walker>> others, bool wanders) {
    name = number;
    state = number * 77;
    fellows = std::move(others);
    moves = wanders;
  }
  void note(std::uint64_t source, std::uint32_t its_stay, std::uint32_t number) {
    std::uint32_t& last = got[{source, its_stay}];
    if (number != ++last) ++all.wrong;
    ++all.ran;
  }
  void pass_on(context& ctx, std::uint32_t left) {
    if (ctx.rank().value() != rank) {
      rank = ctx.rank().value();
      ++stay;
      sent.clear();
    }
    const std::uint64_t target = draw(fellows.size());
    ctx.send<&walker::step>(fellows[target], name, stay, ++sent[target], left - 1);
    ++all.sent;
  }
  void step(context& ctx, std::uint64_t source, std::uint32_t its_stay, std::uint32_t number, std::uint32_t left) {
    note(source, its_stay, number);
    ctx.charge(1e-6 * static_cast<double>(draw(5)));
    if (left > 0) pass_on(ctx, left);
    if (left > 0 && left % 3 == 0) pass_on(ctx, left);
    if (moves && draw(20) == 0)
      static_cast<void>(ctx.migrate(ctx.self<walker>(), rank_id(static_cast<std::uint32_t>(draw(ctx.size())))));
  }
  account result() const { return all; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, state, fellows, moves, rank, stay, sent, got, all.sent, all.ran, all.wrong);
  }
};

struct progress {
  std::vector<mobile_ptr<walker>> all;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all);
  }
};

constexpr std::uint64_t walkers_a_rank = 3;
constexpr std::uint32_t hops = 24;

struct outcome {
  int code = 0;
  account all;
  bool restored = false;
};

outcome walk(config configuration, bool moves) {
  outcome result;
  result.code = run(std::move(configuration), [&](runtime& rt) {
    auto state = rt.restored<progress>();
    const bool first = rt.rank().value() == 0;
    if (first) result.restored = state.has_value();
    if (!state) {
      state.emplace();
      std::vector<mobile_ptr<walker>> mine;
      for (std::uint64_t number = 0; number < walkers_a_rank; ++number) mine.push_back(rt.create<walker>());
      for (const auto& each : rt.all_gather(mine)) state->all.insert(state->all.end(), each.begin(), each.end());
      for (std::uint64_t number = 0; first && number < state->all.size(); ++number)
        rt.send<&walker::meet>(state->all[number], number + 1, state->all, moves);
      rt.wait_quiescence();  // nobody sends to a walker that has not met the others
      if (first) {
        std::uint32_t number = 0;
        for (const auto& each : state->all) rt.send<&walker::step>(each, std::uint64_t{0}, 0U, 1U, hops), ++number;
      }
      rt.wait_quiescence(*state);
    }
    if (!first) return;
    for (const auto& each : state->all) result.all += rt.call<&walker::result>(each).get();
  });
  return result;
}

struct held_images : held_images_of {};

TEST_F(held_images, hold_each_message_once_and_in_order) {
  std::uint64_t with_messages = 0;
  const std::uint64_t seeds = rounds_in_one_thread(40);
  for (int seed = 1; seed <= static_cast<int>(seeds); ++seed) {
    std::filesystem::remove_all(folder);
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(seed) % 5;
    const config configuration = drawn(ranks, seed);
    const bool moves = seed % 3 == 0;
    const outcome whole = walk(configuration, moves);
    ASSERT_EQ(whole.code, 0);
    const std::uint64_t begun = walkers_a_rank * ranks;
    ASSERT_EQ(whole.all.ran, whole.all.sent + begun);
    const outcome first = walk(often(configuration, seed % 2 == 0 ? "20us" : "100us"), moves);
    ASSERT_EQ(first.code, 0) << seed;
    EXPECT_EQ(first.all.ran, whole.all.ran) << seed;
    EXPECT_EQ(first.all.sent, whole.all.sent) << seed;
    EXPECT_EQ(first.all.wrong, 0U) << seed;
    if (!go_back_to_messages()) continue;
    ++with_messages;
    const outcome rest = walk(restoring(drawn(ranks, seed + 1000)), moves);
    ASSERT_EQ(rest.code, 0) << seed;
    EXPECT_TRUE(rest.restored) << seed;
    EXPECT_EQ(rest.all.ran, whole.all.ran) << seed;
    EXPECT_EQ(rest.all.sent, whole.all.sent) << seed;
    EXPECT_EQ(rest.all.wrong, 0U) << seed;
  }
  EXPECT_GT(with_messages, seeds / 2);
}

}  // namespace
}  // namespace nacre::tests
