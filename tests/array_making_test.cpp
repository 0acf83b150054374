// SPDX-License-Identifier: Apache-2.0
// Each rank makes the elements of its own places, and asks the placement no more than it needs to.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

struct seedling {
  std::uint32_t made_on = 0;
  index place{};
  std::uint64_t right(context& ctx, bool on_home) const { return place == ctx.index() && on_home ? 1 : 0; }
  std::uint32_t birthplace() const { return made_on; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(made_on, place);
  }
};

std::atomic<std::uint64_t> asked{0}, listed{0};

struct by_last {
  rank_id operator()(const index& index, const extents&, std::uint32_t ranks) const {
    ++asked;
    return rank_id(static_cast<std::uint32_t>(index[index.dimensions() - 1]) % ranks);
  }
};
/// The same placement, which lists the places of a rank.
struct by_last_listed : by_last {
  template <class Visit>
  void for_each_place(rank_id rank, const extents& shape, std::uint32_t ranks, Visit&& visit) const {
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      for (std::int64_t last = rank.value(); last < shape[1]; last += ranks) {
        ++listed;
        visit(index(row, last));
      }
    }
  }
};

template <class P>
void all_are_at_home(runtime& rt, const extents& shape) {
  const auto grid = rt.create_array<seedling>(
      shape,
      [&](const index& place) {
        return seedling{rt.rank().value(), place};
      },
      P{});
  for (std::uint64_t number = rt.rank().value(); number < shape.count(); number += rt.size()) {
    const index position = shape.place_of(number);
    EXPECT_EQ(rt.call<&seedling::birthplace>(grid[position]).get(), grid.home_of(position).value())
        << to_string(position);
  }
  if (shape.count() != 0) {
    EXPECT_EQ(rt.reduce<&seedling::right>(grid, std::plus<>{}, true).get(), shape.count());
  }
  rt.barrier();
  rt.destroy(grid);
}

TEST(create_array, makes_each_element_once_on_the_home_of_its_place) {
  for (const char* const range : {"inproc", "sim"}) {
    for (const int ranks : {1, 2, 3, 7}) {
      config configuration;
      configuration.set("transport", range);
      configuration.set("ranks", std::to_string(ranks));
      configuration.set("balancer", "none");
      EXPECT_EQ(run(configuration,
                    [](runtime& rt) {
                      for (const extents& shape : {extents{4, 9}, extents{1, 1}, extents{0, 3}, extents{2, 3}}) {
                        all_are_at_home<by_block>(rt, shape);
                        all_are_at_home<by_last>(rt, shape);
                        all_are_at_home<by_last_listed>(rt, shape);
                      }
                      all_are_at_home<by_block>(rt, extents{3, 2, 5});
                      all_are_at_home<by_last>(rt, extents{3, 2, 5});
                    }),
                0);
    }
  }
}

template <class P>
void make_one(runtime& rt, const extents& shape) {
  rt.barrier();
  if (rt.rank().value() == 0) asked = listed = 0;
  rt.barrier();
  static_cast<void>(rt.create_array<seedling>(
      shape, [](const index&) { return seedling(); }, P{}));
  rt.barrier();
}

TEST(create_array, asks_a_placement_once_a_place_over_all_ranks) {
  run_simulated({{"ranks", "8"}, {"balancer", "none"}}, [](runtime& rt) {
    make_one<by_last>(rt, extents{50, 64});
    if (rt.rank().value() == 0) {
      EXPECT_EQ(asked, 50U * 64U);
    }
    make_one<by_last_listed>(rt, extents{50, 64});
    if (rt.rank().value() == 0) {
      EXPECT_EQ(listed, 50U * 64U);
    }
    if (rt.rank().value() == 0) {
      EXPECT_EQ(asked, 50U * 64U) << "to check the list";
    }
  });
}

/// Lists too little, in the wrong order, or places of another rank.
template <int Fault>
struct bad_list : by_last {
  template <class Visit>
  void for_each_place(rank_id rank, const extents& shape, std::uint32_t ranks, Visit&& visit) const {
    const std::int64_t first = Fault == 0 ? ranks : 0;
    for (std::int64_t last = rank.value() + first; last < shape[1]; last += ranks) {
      if (Fault == 1) visit(index(1, last));
      visit(index(0, Fault == 2 ? (last + 1) % shape[1] : last));
    }
  }
};

template <int Fault>
std::string refusal(runtime& rt) {
  try {
    static_cast<void>(rt.create_array<seedling>(
        extents{2, 6}, [](const index&) { return seedling(); }, bad_list<Fault>{}));
  } catch (const std::runtime_error& refused) {
    return refused.what();
  }
  return "nothing was thrown";
}

TEST(create_array, refuses_a_placement_that_lists_other_places_than_it_names) {
  run_simulated({{"ranks", "2"}}, [](runtime& rt) {
    EXPECT_NE(refusal<0>(rt).find("lists 4 places for array 1: 2 x 6"), std::string::npos);
    EXPECT_NE(refusal<1>(rt).find("must visit the places in ascending order"), std::string::npos);
    EXPECT_NE(refusal<2>(rt).find("visits a place for a rank that operator() does not name"), std::string::npos);
    all_are_at_home<by_last>(rt, extents{2, 6});
  });
}

}  // namespace

/// Counts the objects of its class on all ranks. All compilers name it alike, as no class of an anonymous namespace.
struct counted {
  static inline std::atomic<int> alive{0};
  counted() { ++alive; }
  counted(const counted&) { ++alive; }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
  template <class Archive>
  void serialize(Archive&) {}
};

namespace {

TEST(create_array, of_which_an_element_throws_leaves_no_array_and_no_element_behind) {
  for (const char* const range : {"inproc", "sim"}) {
    config configuration;
    configuration.set("transport", range);
    configuration.set("ranks", "4");
    EXPECT_EQ(run(configuration,
                  [](runtime& rt) {
                    for (int round = 0; round < 20; ++round) {
                      const auto make = [&](const index& index) -> counted {
                        if (index[0] == 11) throw std::range_error("no ground");
                        return {};
                      };
                      try {
                        static_cast<void>(rt.create_array<counted>(extents{16}, make));
                        ADD_FAILURE() << "nothing was thrown";
                      } catch (const std::runtime_error& thrown) {
                        EXPECT_EQ(std::string(thrown.what()), "create_array: element [11] of array " +
                                                                  std::to_string(2 * round + 1) +
                                                                  " (nacre::tests::counted) on rank 2: no ground");
                      }
                      rt.barrier();
                      EXPECT_EQ(counted::alive, 0);
                      all_are_at_home<by_block>(rt, extents{4, 4});
                    }
                  }),
              0);
  }
}

TEST(elements, are_named_by_their_places_in_errors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* const range : {"inproc", "sim"}) {
    const auto job = [range] {
      config configuration;
      configuration.set("transport", range);
      configuration.set("ranks", "2");
      std::exit(run(configuration, [](runtime& rt) {
        static_cast<void>(rt.create_array<seedling>(extents{3}));
        const auto grid = rt.create_array<seedling>(extents{4, 7});
        if (rt.rank().value() == 0) rt.send(grid[{3, 5}], [](seedling&) { throw std::range_error("frost"); });
      }));
    };
    EXPECT_EXIT(job(), testing::ExitedWithCode(1), "threw: frost .element .3, 5. of array 2.");
    const auto lost = [range] {
      config configuration;
      configuration.set("transport", range);
      configuration.set("ranks", "2");
      std::exit(run(configuration, [](runtime& rt) {
        const auto grid = rt.create_array<seedling>(extents{4, 7}, sparse);
        if (rt.rank().value() == 0) rt.send(grid[{3, 5}], [](seedling&) {});
        rt.wait_quiescence();
        std::exit(9);
      }));
    };
    if (std::string(range) == "inproc") {
      EXPECT_EXIT(lost(), testing::ExitedWithCode(9),
                  "to element .3, 5. of array 1 was not delivered: the array has no");
    }
  }
}

}  // namespace
}  // namespace nacre::tests
