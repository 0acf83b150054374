// SPDX-License-Identifier: Apache-2.0
// Balancers move an object only if the work that waits for it is worth the bytes that it takes along.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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
  slices(double of, std::uint32_t count, std::size_t bytes) : seconds(of), left(count), ballast(bytes) {}
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

constexpr std::size_t large_bytes = 4'000'000;        // packed in 1 ms of virtual time
constexpr std::uint32_t few = 4;                      // moves of a size by which a rank learns what they cost
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

class large_moves : public testing::TestWithParam<const char*> {};

TEST_P(large_moves, are_not_made_for_little_work) {
  const moves_made made = moves_under(GetParam(), 1e-3);
  EXPECT_GT(made.small, 0u);
  EXPECT_LE(made.large, 2 * few);
}

TEST_P(large_moves, are_made_for_much_work) {
  const moves_made made = moves_under(GetParam(), 10e-3);
  EXPECT_GT(made.large, 2 * few);
}

INSTANTIATE_TEST_SUITE_P(of_each, large_moves,
                         testing::Values("steal", "lifeline", "hierarchical", "diffusion", "gossip", "greedy_refine",
                                         "share", "master_worker"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
