// SPDX-License-Identifier: Apache-2.0
// Images in the middle of a wait that hold more than messages at objects: steps of contributions that lack values,
// messages to be sent later, and containers that handlers use.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nacre/containers/counting_set.hpp>
#include <nacre/nacre.hpp>

#include "held_images.hpp"

namespace nacre::tests {
namespace {

constexpr std::uint64_t runners = 50;  // more than three blocks of places
constexpr std::uint64_t rounds = 9;
constexpr std::uint64_t short_rounds = 4;  // of a runner that ends

/// Keeps the results of all rounds.
struct judge {
  std::map<std::uint64_t, std::string> names, of_section;
  std::map<std::uint64_t, std::uint64_t> sums;
  std::uint64_t votes = 0;
  void all_names(std::uint64_t round, std::string text) { names[round] += text; }
  void section_names(std::uint64_t round, std::string text) { of_section[round] += text; }
  void sum(std::uint64_t round, std::uint64_t value) { sums[round] += value; }
  void vote(std::uint64_t count) { votes += count; }
  /// `sorted`: on another number of ranks the values are combined in another order of the ranks.
  std::string text(bool sorted) const {
    std::string all = std::to_string(votes);
    const auto add = [&](const std::string& name, std::string names_of) {
      if (sorted) std::ranges::sort(names_of);
      all += "\n" + name + " " + names_of;
    };
    for (const auto& [round, each] : names) add("all " + std::to_string(round), each);
    for (const auto& [round, each] : of_section) add("section " + std::to_string(round), each);
    for (const auto& [round, each] : sums) add("sum " + std::to_string(round), std::to_string(each));
    return all;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(names, of_section, sums, votes);
  }
};

struct shared_names {
  mobile_ptr<judge> target;
  section_ptr odd;
  counting_set_handle<std::string> words;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(target, odd, words);
  }
};

/// A handler on a rank.
void vote(context& ctx, mobile_ptr<judge> object, std::uint64_t count) { ctx.send<&judge::vote>(object, count); }

/// Each of its rounds begins by a message that it has sent itself for later, at its own pace.
struct runner {
  shared_names known;
  std::uint64_t number = 0, round = 0;
  void begin(context& ctx, const shared_names& names) {
    known = names;
    number = static_cast<std::uint64_t>(ctx.index()[0]);
    run(ctx);
  }
  void run(context& ctx) {
    ctx.charge(1e-6);
    const std::string name(1, static_cast<char>('A' + number));
    known.words.insert(ctx, name + std::to_string(round % 2));
    ctx.contribute<&judge::all_names>(round, name, std::plus<>{}, known.target);
    ctx.contribute<&judge::sum>(round, number * round, std::plus<>{}, known.target);
    if (number % 2 == 1) ctx.contribute<&judge::section_names>(known.odd, round, name, std::plus<>{}, known.target);
    if (number % 5 == 0) static_cast<void>(ctx.after<&vote>(2e-5, known.target, round));
    ++round;
    if (number % 7 == 3 && round == short_rounds) return ctx.destroy(ctx.self<runner>());
    if (round == rounds) return;
    const double pace = 1e-6 * static_cast<double>(1 + number * 13 % 47);
    static_cast<void>(ctx.after<&runner::run>(pace, ctx.self<runner>()));
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(known, number, round);
  }
};

struct progress {
  array_ptr<runner> all;
  shared_names known;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all, known);
  }
};

struct outcome {
  int code = 0;
  std::string text, sorted;
  bool restored = false;
};

outcome live(config configuration) {
  outcome result;
  result.code = run(std::move(configuration), [&](runtime& rt) {
    auto state = rt.restored<progress>();
    const bool first = rt.rank().value() == 0;
    if (first) result.restored = state.has_value();
    const bool fresh = !state.has_value();
    if (fresh) {
      state.emplace();
      state->all = rt.create_array<runner>(extents{runners});
      state->known.target = rt.broadcast(first ? rt.create<judge>() : mobile_ptr<judge>(), rank_id(0));
      section_ptr odd;
      if (first) {
        std::vector<index> places;
        for (std::int64_t place = 1; place < static_cast<std::int64_t>(runners); place += 2) places.push_back({place});
        odd = rt.create_section(section(state->all, places)).get();
      }
      state->known.odd = rt.broadcast(odd, rank_id(0));
    }
    counting_set<std::string> words(rt, state->known.words);
    if (fresh) {
      state->known.words = words.handle();
      if (first) rt.send<&runner::begin>(state->all, state->known);
      rt.wait_quiescence(*state);
    }
    std::string counted;
    for (const auto& [word, count] : words.top(2 * runners)) counted += "\n" + word + " " + std::to_string(count);
    if (!first) return;
    result.text = rt.call<&judge::text>(state->known.target, false).get() + counted;
    result.sorted = rt.call<&judge::text>(state->known.target, true).get() + counted;
  });
  return result;
}

struct held_parts : held_images_of {
  std::map<std::uint32_t, int> seen;  ///< images that have a section
  /// Removes images until the one that counts has open steps or messages to be sent later.
  [[nodiscard]] bool go_back_to_parts() {
    std::vector<std::string> problems;
    for (const images::found_image& each : images::image_folder(folder).images(problems)) {
      bool any = false;
      for (const std::uint32_t section : {std::uint32_t{steps_section}, std::uint32_t{delayed_section}}) {
        if (bytes_lying(each, section) == 0) continue;
        any = true;
        ++seen[section];
      }
      if (any) return true;
      std::filesystem::remove_all(each.path);
    }
    return false;
  }
};

TEST_F(held_parts, are_as_if_nothing_had_been_interrupted_on_any_number_of_ranks) {
  for (int seed = 1; seed <= 24; ++seed) {
    std::filesystem::remove_all(folder);
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(seed) % 5;
    const outcome whole = live(drawn(ranks, seed));
    ASSERT_EQ(whole.code, 0);
    const outcome first = live(often(drawn(ranks, seed), seed % 2 == 0 ? "30us" : "100us"));
    EXPECT_EQ(first.text, whole.text) << seed;
    if (!go_back_to_parts()) continue;
    for (const std::uint32_t others : {ranks, 1U, 2U, 3U, 7U}) {
      const outcome rest = live(restoring(drawn(others, seed + 1000)));
      ASSERT_EQ(rest.code, 0) << seed;
      EXPECT_TRUE(rest.restored);
      EXPECT_EQ(rest.sorted, whole.sorted) << seed << ", from " << ranks << " ranks to " << others;
      if (others == ranks) {
        EXPECT_EQ(rest.text, whole.text) << seed;
      }
    }
  }
  EXPECT_GT(seen[steps_section], 12);
  EXPECT_GT(seen[delayed_section], 12);
}

TEST_F(held_parts, are_interrupted_again_and_again) {
  int times = 0;
  for (int seed = 1; seed <= 10; ++seed) {
    std::filesystem::remove_all(folder);
    const outcome whole = live(drawn(3, seed));
    static_cast<void>(live(often(drawn(3, seed), "40us")));
    for (const std::uint32_t ranks : {3U, 2U, 4U, 4U}) {
      if (!go_back_to_parts()) break;
      ++times;
      const outcome rest = live(often(restoring(drawn(ranks, seed)), "40us"));
      EXPECT_EQ(rest.code, 0) << seed;
      EXPECT_EQ(rest.sorted, whole.sorted) << seed << ", " << ranks << " ranks";
    }
  }
  EXPECT_GT(times, 15);
}

}  // namespace
}  // namespace nacre::tests
