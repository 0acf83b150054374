// SPDX-License-Identifier: Apache-2.0
// Messages of one thread to one rank run in the order sent where the rank has one worker, whatever their sizes, their
// kinds, and the length of their handlers.
//
// The executable is its own rank program: `rank_order_mp_test --rank`.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transports.hpp"

namespace {

using namespace nacre::tests;

constexpr std::uint32_t short_ones = 60000, mixed_ones = 6000, to_group = 30000;

/// What has come to this rank, of each kind. The handlers run one at a time: there is one worker.
struct arrivals {
  std::uint32_t next = 0, disordered = 0;
  void take(std::uint32_t number) {
    if (number != next) ++disordered;
    next = number + 1;
  }
};
arrivals short_seen, mixed_seen, group_seen, own_seen;

void take_short(std::uint32_t number) { short_seen.take(number); }
void take_own(std::uint32_t number) { own_seen.take(number); }

/// Some of these take longer than the time after which a worker leaves the rest of a bundle.
void take_mixed(std::uint32_t number, const std::vector<std::uint32_t>& values) {
  mixed_seen.take(number);
  if (values.size() % 5 != 0) return;
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
  while (std::chrono::steady_clock::now() < until) continue;
}

struct tally {
  void take(std::uint32_t number) { group_seen.take(number); }
};

/// Other work, between whose runs the worker polls.
void keep_busy(nacre::context& ctx, std::uint32_t left) {
  if (left > 0) ctx.send<keep_busy>(ctx.rank(), left - 1);
}

void send_in_order(nacre::runtime& rt) {
  const nacre::rank_id other(1 - rt.rank().value());
  const nacre::group_ptr<tally> tallies = rt.create_group<tally>();
  rt.barrier();
  rt.send<keep_busy>(rt.rank(), 20000u);
  for (std::uint32_t number = 0; number < short_ones; ++number) {
    rt.send<take_short>(other, number);
    rt.send<take_own>(rt.rank(), number);
  }
  rt.wait_quiescence();
  for (std::uint32_t number = 0; number < mixed_ones; ++number) {
    const std::size_t values = number % 1000 == 999 ? 30000 : number % 97 == 0 ? 700 : number % 23;
    rt.send<take_mixed>(other, number, std::vector<std::uint32_t>(values));
  }
  for (std::uint32_t number = 0; number < to_group; ++number) rt.send<&tally::take>(tallies[other], number);
  rt.wait_quiescence();
  for (const arrivals& each : {short_seen, mixed_seen, group_seen, own_seen}) {
    const std::uint32_t seen = rt.all_reduce(each.next, std::plus<>{});
    const std::uint32_t disordered = rt.all_reduce(each.disordered, std::plus<>{});
    if (rt.rank().value() == 0) std::printf("%u, out of order: %u\n", seen, disordered);
  }
}

class rank_order : public testing::TestWithParam<const char*> {};

TEST_P(rank_order, of_one_thread_holds_where_one_worker_runs_the_handlers) {
  const auto start = start_of(GetParam(), 2);
  if (!start.missing.empty()) GTEST_SKIP() << start.missing;
  ignore_foreign_leaks(GetParam());
  std::vector<std::string> words = start.words;
  words.insert(words.end(), {own_path(), "--rank", "--nacre.workers=1"});
  const outcome got = launched(words).end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output,
            "120000, out of order: 0\n12000, out of order: 0\n60000, out of order: 0\n120000, out of order: 0\n")
      << got.errors;
}

INSTANTIATE_TEST_SUITE_P(over, rank_order, testing::Values("shm", "tcp", "udp", "openmpi", "mpich", "ucx"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--rank") return nacre::run(argc, argv, send_in_order);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
