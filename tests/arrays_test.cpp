// SPDX-License-Identifier: Apache-2.0
// Random programs on one array on real threads, whose elements come, go and move, against a record of what each has
// run. Under simulation the campaign has arrays among all else.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "campaign/array_record.hpp"

namespace nacre::tests {
namespace {

/// Of the program that runs now; the ranks share the process.
struct history_of_all : campaign::array_record {
  std::atomic<life> lives{0};
  life begin_life() { return ++lives; }
};
std::unique_ptr<history_of_all>& current() {
  static std::unique_ptr<history_of_all> now;
  return now;
}
history_of_all& history() { return *current(); }

struct leaf {
  std::uint32_t life = 0;
  std::vector<std::uint32_t> load = std::vector<std::uint32_t>(9, 1);

  void hear(std::uint64_t number) { history().heard(life, number); }
  std::uint64_t see(context& ctx, std::uint64_t number) {
    history().heard(life, number);
    if (number % 5 == 0) ctx.charge(3e-6);
    return load.front();
  }
  task<std::uint64_t> ponder(context& ctx, std::uint64_t number, array_ptr<leaf> array) {
    history().heard(life, number);
    if (ctx.index() != nacre::index{0, 0}) co_await ctx.call<&leaf::look>(array[{0, 0}]);  // not itself: it is taken
    co_return 1;
  }
  void hear_and_go(context& ctx, std::uint64_t number) {
    history().heard(life, number);
    ctx.migrate(ctx.self<leaf>(), rank_id(static_cast<std::uint32_t>((number + life) % ctx.size())));
  }
  std::uint64_t look() const { return load.size(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(life, load);
  }
};

constexpr int rows = 3, columns = 5;

/// One rank's main: what it does at random, and what must come of it, as far as it knows.
class actor {
 public:
  actor(runtime& rt, array_ptr<leaf> all, std::uint64_t seed) : rt_(rt), all_(all), random_(seed) {}

  void act(int actions) {
    for (int action = 0; action < actions; ++action) one();
    while (!waiting_.empty()) settle();
  }

 private:
  struct place_state {
    std::optional<std::uint32_t> life;  ///< that has been inserted, for certain
    std::optional<std::uint32_t> last;  ///< that has ended, for certain
  };

  /// A place that only this rank fills and empties; not the one whose element stays for ever.
  index own_place() {
    for (;;) {
      const index position{below(rows), below(columns)};
      const auto number = static_cast<std::uint64_t>(position[0] * columns + position[1]);
      if (number != 0 && number % rt_.size() == rt_.rank().value()) return position;
    }
  }
  std::int64_t below(std::uint64_t bound) { return static_cast<std::int64_t>(random_.below(bound)); }
  std::uint64_t next_what() {
    const std::uint64_t number = (rt_.rank().value() + 1) * 100'000 + told_++;
    history().told(rt_.rank().value(), number);
    for (const auto& [place, state] : places_) {
      if (state.last) history().must_not_hear(*state.last, number);
    }
    return number;
  }
  void settle() {
    const std::size_t index = random_.below(waiting_.size());
    const auto end = std::move(waiting_[index]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
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
  void sum(future<std::uint64_t> counted, std::uint64_t number) {
    waiting_.emplace_back([number, kept = std::make_shared<future<std::uint64_t>>(std::move(counted))] {
      history().counted(number, kept->get());
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
        const std::uint64_t number = next_what();
        return sum(rt_.reduce<&leaf::see>(all_, std::plus<>{}, number), number);
      }
      case 5: {
        const std::uint64_t number = next_what();
        return sum(rt_.reduce<&leaf::ponder>(all_, std::plus<>{}, number, all_), number);
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
    const index index = own_place();
    place_state& state = places_[index];
    const std::uint32_t life = history().begin_life();
    future<void> inserted = rt_.insert(all_, index, life);
    if (state.life) {
      EXPECT_THROW(inserted.get(), call_error);
    } else {
      inserted.get();
      state = {life, std::nullopt};
    }
  }
  void erase() {
    const index index = own_place();
    place_state& state = places_[index];
    future<void> erased = rt_.erase(all_, index);
    if (!state.life) {
      EXPECT_THROW(erased.get(), call_error);
    } else {
      erased.get();
      state = {std::nullopt, state.life};
    }
  }
  void hear_now() {
    const std::uint64_t number = next_what();
    rt_.call<&leaf::hear>(all_, number).get();
    for (const auto& [place, state] : places_) {
      if (state.life) history().must_hear(*state.life, number);
    }
  }

  runtime& rt_;
  array_ptr<leaf> all_;
  rng random_;
  std::uint64_t told_ = 0;
  std::map<index, place_state> places_;
  std::vector<std::function<void()>> waiting_;
};

void random_program(runtime& rt, std::uint64_t seed, int actions) {
  rt.on_delivery_error([](const delivery_error&) {});
  if (rt.rank().value() == 0) current() = std::make_unique<history_of_all>();
  rt.barrier();
  const auto all = rt.create_array<leaf>(extents{rows, columns}, sparse);
  std::uint32_t everlasting = 0;
  if (rt.rank().value() == 0) {
    everlasting = history().begin_life();
    rt.insert(all, {0, 0}, everlasting).get();
  }
  everlasting = rt.broadcast(everlasting, rank_id(0));
  actor actor(rt, all, seed * 1000 + rt.rank().value());
  actor.act(actions);
  rt.wait_quiescence();
  if (rt.rank().value() == 0) {
    for (const std::string& each : history().faults(everlasting, true)) ADD_FAILURE() << each;
  }
  rt.barrier();
  rt.destroy(all);
}

config settings(const char* transport, std::uint64_t ranks, std::uint64_t workers, std::uint64_t seed) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", std::to_string(workers));
  configuration.set("seed", std::to_string(seed));
  configuration.set("hops_max", std::to_string(1 + seed % 3));
  configuration.set("location", std::string(location_policy_names[seed / 3 % location_policy_names.size()]));
  configuration.set("location_cache", seed % 2 == 0 ? "1" : "65536");
  return configuration;
}

std::uint64_t seeds(std::uint64_t by_default) {
  const char* const asked = std::getenv("NACRE_ARRAY_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : by_default;
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
  EXPECT_EXIT(job([](runtime& rt) {
                const auto chosen = rt.rank().value() == 1 ? location_policy::home : location_policy::of_program;
                static_cast<void>(rt.create_array<grain>(array_options{.location = chosen}, extents{4}));
              }),
              testing::ExitedWithCode(1), "same arrays in the same order: .*location home");
}

}  // namespace
}  // namespace nacre::tests
