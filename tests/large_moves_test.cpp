// SPDX-License-Identifier: Apache-2.0
// Balancers move an object only if the work that waits for it is worth the bytes that it takes along.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace {

using nacre::tests::run_simulated;

/// Works in slices, each a message to itself, and counts its moves.
struct slices {
  double seconds = 0;  // of a slice
  std::uint32_t left = 0, last_rank = 0, moves = 0;
  std::vector<std::uint8_t> ballast{};

  slices() = default;
  slices(double value, std::uint32_t count, std::size_t bytes) : seconds(value), left(count), ballast(bytes) {}
  void run(nacre::context& ctx) {
    moves += ctx.rank().value() != last_rank ? 1 : 0;
    last_rank = ctx.rank().value();
    ctx.charge(seconds);
    if (left-- > 1) ctx.send<&slices::run>(ctx.self<slices>());
  }
  std::uint32_t moved() const { return moves; }
  double load() const { return seconds * left; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, left, last_rank, moves, ballast);
  }
};

constexpr std::size_t large_bytes = 4'000'000;  // packed in 1 ms of virtual time
constexpr std::uint32_t few = 4;                // moves of a size by which a rank learns what they cost
constexpr int objects_of_a_kind = 48, slices_of_each = 8;

struct moves_made {
  std::uint32_t small = 0, large = 0;
};

/// The moves of objects that all begin on rank 0.
moves_made moves_under(const std::string& balancer, double slice_seconds) {
  moves_made sum;
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", balancer}}, [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<slices>> small, large;
    for (int n = 0; rt.rank().value() == 0 && n < objects_of_a_kind; ++n) {
      small.push_back(rt.create<slices>(slice_seconds, slices_of_each, std::size_t{0}));
      large.push_back(rt.create<slices>(slice_seconds, slices_of_each, large_bytes));
      rt.send<&slices::run>(small.back());
      rt.send<&slices::run>(large.back());
    }
    rt.wait_quiescence();
    for (const auto each : small) sum.small += rt.call<&slices::moved>(each).get();
    for (const auto each : large) sum.large += rt.call<&slices::moved>(each).get();
  });
  return sum;
}

/// What a balancer saw that wanted each object of rank 0 which had run and seemed worth it.
struct asked {
  int left = 0;
  std::vector<double> costs_of_staying{};
};

struct asker final : nacre::balancer {
  asker(asked& asked, bool always) : seen(asked), in_any_case(always) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0) return;
    const auto object_loads = host.candidates(objects_of_a_kind);
    for (const nacre::object_load& each : std::vector(object_loads.begin(), object_loads.end())) {
      if (!(each.seconds > 4 * each.migration_cost)) continue;
      if (in_any_case) host.migrate(each.object, nacre::rank_id{1});
      const bool leaves = in_any_case || host.migrate_if_worth(each.object, nacre::rank_id{1});
      const std::optional<nacre::object_load> load = host.load_of(each.object);
      EXPECT_EQ(load.has_value(), !leaves);
      seen.left += leaves ? 1 : 0;
      if (load) seen.costs_of_staying.push_back(load->migration_cost);
    }
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  asked& seen;
  bool in_any_case;
};

asked ask_for_large_objects(bool in_any_case) {
  asked seen;
  nacre::register_balancer("asker_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<asker>(seen, in_any_case); });
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", "asker_of_the_test"}}, [](nacre::runtime& rt) {
    for (int n = 0; rt.rank().value() == 0 && n < objects_of_a_kind; ++n) {
      rt.send<&slices::run>(rt.create<slices>(1e-3, slices_of_each, large_bytes));
    }
  });
  return seen;
}

/// Slices whose caches are filled again wherever they come.
struct cached_slices : slices {
  static inline double seconds_to_fill = 0;
  using slices::slices;
  void run_on(nacre::context& ctx) {
    moves += ctx.rank().value() != last_rank ? 1 : 0;
    last_rank = ctx.rank().value();
    ctx.charge(seconds);
    if (left-- > 1) ctx.send<&cached_slices::run_on>(ctx.self<cached_slices>());
  }
  std::uint32_t moved_so_far() const { return moves; }
  double migration_cost() const { return seconds_to_fill; }
};

/// The moves of objects that all begin on rank 0, and whose class says so much of a move.
std::uint32_t moves_at_cost(const std::string& balancer, double seconds_to_fill) {
  cached_slices::seconds_to_fill = seconds_to_fill;
  std::uint32_t sum = 0;
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", balancer}}, [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<cached_slices>> all;
    for (int n = 0; rt.rank().value() == 0 && n < objects_of_a_kind; ++n) {
      all.push_back(rt.create<cached_slices>(1e-3, slices_of_each, std::size_t{0}));
      rt.send<&cached_slices::run_on>(all.back());
    }
    rt.wait_quiescence();
    for (const auto each : all) sum += rt.call<&cached_slices::moved_so_far>(each).get();
  });
  return sum;
}

TEST(large_objects, that_stay_tell_what_their_bytes_would_have_cost_and_are_asked_once) {
  const asked seen = ask_for_large_objects(false);
  EXPECT_EQ(seen.left, static_cast<int>(few));
  EXPECT_EQ(seen.costs_of_staying.size(), objects_of_a_kind - few);
  for (const double each : seen.costs_of_staying) EXPECT_NEAR(each, 1e-3, 1e-5);
}

TEST(large_objects, leave_in_any_case_if_a_balancer_says_so) {
  const asked seen = ask_for_large_objects(true);
  EXPECT_GT(seen.left, objects_of_a_kind / 2);
  EXPECT_TRUE(seen.costs_of_staying.empty());
}

class large_moves : public testing::TestWithParam<const char*> {};

TEST_P(large_moves, are_not_made_for_little_work) {
  const moves_made moves_made = moves_under(GetParam(), 1e-3);
  EXPECT_GT(moves_made.small, 0u);
  EXPECT_LE(moves_made.large, 2 * few);
}

TEST_P(large_moves, are_made_for_much_work) {
  const moves_made moves_made = moves_under(GetParam(), 10e-3);
  EXPECT_GT(moves_made.large, 2 * few);
}

TEST_P(large_moves, are_not_made_of_objects_whose_class_says_that_they_cost_more_than_their_work) {
  constexpr std::uint32_t first_deal = objects_of_a_kind / 4;  // before a message of its kind has been measured
  EXPECT_GT(moves_at_cost(GetParam(), 0), first_deal);
  EXPECT_LE(moves_at_cost(GetParam(), 1), first_deal);
  EXPECT_GT(moves_at_cost(GetParam(), std::numeric_limits<double>::quiet_NaN()), first_deal) << "which says nothing";
}

INSTANTIATE_TEST_SUITE_P(of_each, large_moves,
                         testing::Values("adaptive", "steal", "lifeline", "hierarchical", "diffusion", "gossip",
                                         "greedy_refine", "share", "master_worker"),
                         [](const auto& subject) { return std::string(subject.param); });

}  // namespace
