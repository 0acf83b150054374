// SPDX-License-Identifier: Apache-2.0
// Arrays whose elements balancers move, while some ranks have not reached create_array yet.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr int stones = 96;

std::atomic<std::uint32_t> late_rank{0};
std::atomic<int> elements_made{0}, looks_since{0};

/// An element that a balancer sees though nothing waits for it.
struct stone {
  int weight = 0;

  [[nodiscard]] double load() const { return weight; }
  int value() const { return weight; }
  int is_on(context& ctx, std::uint32_t rank) const { return ctx.rank().value() == rank ? 1 : 0; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(weight);
  }
};

/// Sends whatever it sees to the late rank, and the first element of the next array, whether it sees that or not.
struct eager_balancer final : balancer {
  void on_tick(balancer_host& host) override {
    const rank_id late(late_rank);
    if (host.rank() == late) return;
    const auto seen = host.candidates(stones, candidate_kind::any);
    for (const object_load& each : std::vector(seen.begin(), seen.end())) host.migrate(each.object, late);
    const auto round = static_cast<std::uint64_t>(late.value());  // the arrays are made one for each late rank
    constexpr std::uint64_t first = 16, apart = 96;               // each begins at a multiple of 16
    const std::uint64_t number = first + round * apart + host.rank().value() * stones / ranks;
    host.migrate(object_id(host.rank(), object_id::first_element + number), late);
    if (elements_made == stones / static_cast<int>(ranks) * static_cast<int>(ranks - 1)) ++looks_since;
  }
  void on_message(balancer_host&, rank_id, std::span<const std::byte>) override {}
  [[nodiscard]] bool observes_loads() const override { return false; }
};

config with(const std::string& transport, const std::string& balancer, std::uint64_t seed) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "1");
  configuration.set("seed", std::to_string(seed));
  configuration.set("balancer", balancer);
  return configuration;
}

/// Each rank is the late one once: it waits for the balancers of the others, who have made their elements.
void be_late_by_turns(runtime& rt) {
  for (std::uint32_t late = 0; late < ranks; ++late) {
    if (rt.rank().value() == 0) late_rank = late, elements_made = 0, looks_since = 0;
    rt.barrier();
    while (rt.rank().value() == late && looks_since < 12 && rt.now() >= 0) std::this_thread::yield();
    const auto all = rt.create_array<stone>(extents{stones}, [](const index& index) {
      ++elements_made;
      return stone{1 + static_cast<int>(index[0])};
    });
    while (rt.rank().value() == 0 && rt.reduce<&stone::is_on>(all, std::plus<>{}, late).get() != stones) continue;
    if (rt.rank().value() == 0) {
      EXPECT_EQ(rt.reduce<&stone::value>(all, std::plus<>{}).get(), stones * (stones + 1) / 2);
    }
    rt.destroy(all);
  }
}

class eager : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {};

TEST_P(eager, balancer_moves_elements_only_when_all_ranks_have_made_the_array) {
  register_balancer("eager_of_the_test", [](const config&) { return std::make_unique<eager_balancer>(); });
  const auto& [transport, seed] = GetParam();
  EXPECT_EQ(nacre::run(with(transport, "eager_of_the_test", seed), be_late_by_turns), 0);
}

INSTANTIATE_TEST_SUITE_P(over, eager,
                         testing::Values(std::tuple("sim", 1u), std::tuple("sim", 2u), std::tuple("sim", 3u),
                                         std::tuple("sim", 4u), std::tuple("inproc", 1u), std::tuple("shm", 1u),
                                         std::tuple("tcp", 1u)),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)) + "_" + std::to_string(std::get<1>(each.param));
                         });

class built_in : public testing::TestWithParam<const char*> {};

/// All but the first rank are late, whose elements are by far the heaviest.
TEST_P(built_in, balancer_moves_elements_only_when_all_ranks_have_made_the_array) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    int sum = 0;
    EXPECT_EQ(nacre::run(with("sim", GetParam(), seed),
                         [&](runtime& rt) {
                           while (rt.rank().value() != 0 && rt.now() < 20e-3) continue;
                           const auto all = rt.create_array<stone>(extents{stones}, [](const index& index) {
                             return stone{index[0] < stones / 3 ? 1000 : 1};
                           });
                           if (rt.rank().value() == 0) sum = rt.reduce<&stone::value>(all, std::plus<>{}).get();
                           rt.destroy(all);
                         }),
              0)
        << seed;
    EXPECT_EQ(sum, stones / 3 * 1000 + stones / 3 * 2) << seed;
  }
}

/// Its shared coroutine awaits a shared handler of each neighbour.
struct seeker {
  double value = 1;

  double peek() const { return value; }
  task<double> look(context& ctx, array_ptr<seeker> all, std::int64_t count) const {
    const std::int64_t place = ctx.index()[0];
    double sum = co_await ctx.call<&seeker::peek>(all[(place + 1) % count]);
    sum += co_await ctx.call<&seeker::peek>(all[(place + count - 1) % count]);
    co_return sum;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

double seek_often(config configuration) {
  constexpr std::int64_t count = 300;
  double sum = 0;
  EXPECT_EQ(nacre::run(std::move(configuration),
                       [&](runtime& rt) {
                         const auto all = rt.create_array<seeker>(extents{count});
                         for (int round = 0; rt.rank().value() == 0 && round < 60; ++round) {
                           sum += rt.reduce<&seeker::look>(all, std::plus<>{}, all, count).get();
                         }
                       }),
            0);
  return sum / (2.0 * count);
}

/// A wish to move that waited for the suspended coroutine, and kept back what others ask meanwhile, would make circles.
TEST_P(built_in, balancer_does_not_make_shared_coroutines_wait_for_each_other) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    EXPECT_EQ(seek_often(with("sim", GetParam(), seed)), 60) << seed;
  }
  config threads = with("inproc", GetParam(), 1);
  threads.set("workers", "2");
  EXPECT_EQ(seek_often(threads), 60);
}

INSTANTIATE_TEST_SUITE_P(balancers, built_in,
                         testing::Values("adaptive", "lifeline", "steal", "hierarchical", "diffusion", "gossip",
                                         "greedy_refine", "share", "master_worker", "rotate", "random"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace nacre::tests
