// SPDX-License-Identifier: Apache-2.0
// Random programs on one array, whose elements come, go and move, against a record of what each element has run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/marks.hpp"
#include "base/rng.hpp"
#include "base/sanitized.hpp"

namespace nacre::tests {
namespace {

/// What every element that has ever been has run of what was sent to all. The ranks share the process.
class record {
 public:
  std::uint64_t begin_life() {
    const std::scoped_lock lock(mutex_);
    lives_.emplace_back();
    return lives_.size() - 1;
  }
  void heard(std::uint64_t life, std::uint64_t what) {
    const std::scoped_lock lock(mutex_);
    lives_[life].push_back(what);
  }
  void clear() { lives_.clear(); }
  [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& lives() const { return lives_; }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::uint64_t>> lives_;
};
record& history() {
  static record all;
  return all;
}

struct leaf {
  std::uint64_t life = 0;
  std::vector<std::uint32_t> load = std::vector<std::uint32_t>(9, 1);

  void hear(std::uint64_t what) { history().heard(life, what); }
  std::uint64_t see(context& ctx, std::uint64_t what) {
    history().heard(life, what);
    if (what % 5 == 0) ctx.charge(3e-6);
    return load.front();
  }
  task<std::uint64_t> ponder(context& ctx, std::uint64_t what, array_ptr<leaf> of) {
    history().heard(life, what);
    if (ctx.index() != nacre::index{0, 0}) co_await ctx.call<&leaf::look>(of[{0, 0}]);  // not itself: it is taken
    co_return 1;
  }
  void hear_and_go(context& ctx, std::uint64_t what) {
    history().heard(life, what);
    ctx.migrate(ctx.self<leaf>(), rank_id(static_cast<std::uint32_t>((what + life) % ctx.size())));
  }
  std::uint64_t look() const { return load.size(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(life, load);
  }
};

constexpr int rows = 3, columns = 5;

/// One rank's main: what it does at random, and what it may conclude from the order in which it did it.
class actor {
 public:
  actor(runtime& rt, array_ptr<leaf> all, std::uint64_t seed) : rt_(rt), all_(all), random_(seed) {}

  void act(int actions) {
    for (int action = 0; action < actions; ++action) one();
    while (!waiting_.empty()) settle();
  }

  std::vector<std::uint64_t> told;                            ///< to all, in this order
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sums;  ///< what, and how many have seen it
  std::vector<std::pair<std::uint64_t, std::uint64_t>> must;  ///< a life, and what it must have heard
  std::vector<std::pair<std::uint64_t, std::uint64_t>> must_not;

 private:
  struct place_state {
    std::optional<std::uint64_t> life;  ///< that has been inserted, for certain
    std::optional<std::uint64_t> last;  ///< that has ended, for certain
  };

  /// A place that only this rank fills and empties; not the one whose element stays for ever.
  index own_place() {
    for (;;) {
      const index at{below(rows), below(columns)};
      const auto number = static_cast<std::uint64_t>(at[0] * columns + at[1]);
      if (number != 0 && number % rt_.size() == rt_.rank().value()) return at;
    }
  }
  std::int64_t below(std::uint64_t bound) { return static_cast<std::int64_t>(random_.below(bound)); }
  std::uint64_t next_what() {
    told.push_back((rt_.rank().value() + 1) * 100'000 + told.size());
    for (const auto& [at, state] : places_) {
      if (state.last) must_not.emplace_back(*state.last, told.back());
    }
    return told.back();
  }
  void settle() {
    const std::size_t which = random_.below(waiting_.size());
    const auto end = std::move(waiting_[which]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
    end();
  }
  template <class T>
  void later(future<T> result) {
    waiting_.emplace_back([kept = std::make_shared<future<T>>(std::move(result))] {
      try {
        static_cast<void>(kept->get());
      } catch (const call_error&) {
      }
    });
  }
  void sum(future<std::uint64_t> counted, std::uint64_t what) {
    waiting_.emplace_back([this, what, kept = std::make_shared<future<std::uint64_t>>(std::move(counted))] {
      sums.emplace_back(what, kept->get());
    });
  }

  void one() {
    switch (below(10)) {
      case 0:
        return insert();
      case 1:
        return erase();
      case 2:
        return rt_.send<&leaf::hear>(all_, next_what());
      case 3:
        return rt_.send<&leaf::hear_and_go>(all_, next_what());
      case 4: {
        const std::uint64_t what = next_what();
        return sum(rt_.reduce<&leaf::see>(all_, std::plus<>{}, what), what);
      }
      case 5: {
        const std::uint64_t what = next_what();
        return sum(rt_.reduce<&leaf::ponder>(all_, std::plus<>{}, what, all_), what);
      }
      case 6:
        return hear_now();
      case 7:
        return later(
            rt_.migrate(all_[{below(rows), below(columns)}], rank_id(static_cast<std::uint32_t>(below(rt_.size())))));
      case 8:
        return later(rt_.call<&leaf::look>(all_[{below(rows), below(columns)}]));
      default:
        if (!waiting_.empty()) settle();
    }
  }
  void insert() {
    const index at = own_place();
    place_state& state = places_[at];
    const std::uint64_t life = history().begin_life();
    future<void> inserted = rt_.insert(all_, at, life);
    if (state.life) {
      EXPECT_THROW(inserted.get(), call_error);
    } else {
      inserted.get();
      state = {life, std::nullopt};
    }
  }
  void erase() {
    const index at = own_place();
    place_state& state = places_[at];
    future<void> erased = rt_.erase(all_, at);
    if (!state.life) {
      EXPECT_THROW(erased.get(), call_error);
    } else {
      erased.get();
      state = {std::nullopt, state.life};
    }
  }
  void hear_now() {
    const std::uint64_t what = next_what();
    rt_.call<&leaf::hear>(all_, what).get();
    for (const auto& [at, state] : places_) {
      if (state.life) must.emplace_back(*state.life, what);
    }
  }

  runtime& rt_;
  array_ptr<leaf> all_;
  rng random_;
  std::map<index, place_state> places_;
  std::vector<std::function<void()>> waiting_;
};

bool contains(const std::vector<std::uint64_t>& in, std::uint64_t what) {
  return std::find(in.begin(), in.end(), what) != in.end();
}

/// What holds for all lives: one order, no gaps, nothing twice.
void check_lives(std::uint64_t everlasting) {
  const auto& lives = history().lives();
  const std::vector<std::uint64_t>& order = lives[everlasting];
  std::map<std::uint64_t, std::size_t> place;
  for (std::size_t at = 0; at < order.size(); ++at) {
    EXPECT_TRUE(place.emplace(order[at], at).second) << order[at] << " was run twice by the element that stays";
  }
  for (std::size_t life = 0; life < lives.size(); ++life) {
    for (std::size_t at = 0; at < lives[life].size(); ++at) {
      const auto found = place.find(lives[life][at]);
      ASSERT_NE(found, place.end()) << "life " << life << " has run what the element that stays has not";
      if (at == 0) continue;
      EXPECT_EQ(found->second, place[lives[life][at - 1]] + 1)
          << "life " << life << " missed something, or ran it twice";
    }
  }
}

void check_actor(const actor& done, std::uint64_t everlasting) {
  const auto& lives = history().lives();
  std::vector<std::uint64_t> own;
  for (const std::uint64_t what : lives[everlasting]) {
    if (contains(done.told, what)) own.push_back(what);
  }
  EXPECT_EQ(own, done.told) << "what one main sends to all must be run in its order, and all of it";
  for (const auto& [what, counted] : done.sums) {
    const auto has = [what = what](const auto& life) { return contains(life, what); };
    EXPECT_EQ(counted, static_cast<std::uint64_t>(std::count_if(lives.begin(), lives.end(), has))) << what;
  }
  for (const auto& [life, what] : done.must) EXPECT_TRUE(contains(lives[life], what)) << life << " missed " << what;
  for (const auto& [life, what] : done.must_not) EXPECT_FALSE(contains(lives[life], what)) << life << " had ended";
}

void random_program(runtime& rt, std::uint64_t seed, int actions) {
  rt.on_delivery_error([](const delivery_error&) {});
  if (rt.rank().value() == 0) history().clear();
  rt.barrier();
  const auto all = rt.create_array<leaf>(extents{rows, columns}, sparse);
  std::uint64_t everlasting = 0;
  if (rt.rank().value() == 0) {
    everlasting = history().begin_life();
    rt.insert(all, {0, 0}, everlasting).get();
  }
  everlasting = rt.broadcast(everlasting, rank_id(0));
  actor own(rt, all, seed * 1000 + rt.rank().value());
  own.act(actions);
  rt.wait_quiescence();
  if (rt.rank().value() == 0) check_lives(everlasting);
  check_actor(own, everlasting);
  rt.barrier();
  rt.destroy(all);
}

config settings(const char* transport, std::uint64_t ranks, std::uint64_t workers, std::uint64_t seed) {
  config made;
  made.set("transport", transport);
  made.set("ranks", std::to_string(ranks));
  made.set("workers", std::to_string(workers));
  made.set("seed", std::to_string(seed));
  made.set("hops_max", std::to_string(1 + seed % 3));
  made.set("location", std::string(location_policy_names[seed / 3 % location_policy_names.size()]));
  made.set("location_cache", seed % 2 == 0 ? "1" : "65536");
  return made;
}

std::uint64_t seeds(std::uint64_t by_default) {
  const char* const asked = std::getenv("NACRE_ARRAY_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : by_default;
}

TEST(arrays, random_programs_on_simulated_ranks_lose_and_repeat_nothing) {
  for (std::uint64_t seed = 1; seed <= seeds(sanitized ? 30 : 300); ++seed) {
    ASSERT_EQ(
        run(settings("sim", 1 + seed % 6, 1 + seed % 2, seed), [&](runtime& rt) { random_program(rt, seed, 40); }), 0)
        << "seed " << seed;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  if (sanitized) return;
  for (const mark* each : mark::all()) {
    const bool concerns = each->name().find("element") != std::string_view::npos;
    EXPECT_TRUE(!concerns || each->hits() != 0) << each->name();
  }
}

TEST(arrays, random_programs_on_threads_lose_and_repeat_nothing) {
  for (std::uint64_t seed = 1; seed <= seeds(sanitized ? 3 : 10); ++seed) {
    ASSERT_EQ(run(settings("inproc", 1 + seed % 4, 2, seed), [&](runtime& rt) { random_program(rt, seed, 300); }), 0);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

struct grain {
  std::uint32_t heard = 0;
  void hear() { ++heard; }
  std::uint64_t count() const { return heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

TEST(arrays, a_million_elements_hear_what_is_sent_to_all_and_are_counted) {
  const std::int64_t each = sanitized ? 30 : 100;
  EXPECT_EQ(run(settings("inproc", 2, 1, 1),
                [&](runtime& rt) {
                  const auto grid = rt.create_array<grain>(extents{each, each, each});
                  if (rt.rank().value() == 0) {
                    for (int round = 0; round < 3; ++round) rt.send<&grain::hear>(grid);
                    EXPECT_EQ(rt.reduce<&grain::count>(grid, std::plus<>{}).get(), 3 * grid.shape().count());
                  }
                  rt.barrier();
                  rt.destroy(grid);
                }),
            0);
}

TEST(arrays_death, ranks_that_make_different_arrays_are_told_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [](void (*main)(runtime&)) { std::exit(run(settings("inproc", 3, 1, 1), main)); };
  EXPECT_EXIT(job([](runtime& rt) {
                const int wide = rt.rank().value() == 1 ? 5 : 4;
                static_cast<void>(rt.create_array<grain>(extents{wide, 2}));
              }),
              testing::ExitedWithCode(1), "same arrays in the same order: .*[45] x 2 of .*; .*[45] x 2 of");
  EXPECT_EXIT(job([](runtime& rt) {
                if (rt.rank().value() == 2) {
                  static_cast<void>(rt.create_array<leaf>(extents{4}, sparse));
                } else {
                  static_cast<void>(rt.create_array<grain>(extents{4}, sparse));
                }
              }),
              testing::ExitedWithCode(1), "same arrays in the same order");
}

}  // namespace
}  // namespace nacre::tests
