// SPDX-License-Identifier: Apache-2.0
// Who has access to an object, and when: shared handlers at the same time, exclusive ones alone and without being
// starved.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

#include <nacre/nacre.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

config settings(const char* transport, int ranks, int workers, std::uint64_t seed) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", std::to_string(workers));
  configuration.set("seed", std::to_string(seed));
  return configuration;
}

/// Under simulation a handler that charges is inside for that time; on threads it waits for company, or long.
struct room {
  std::uint64_t changes = 0;

  void meet(context& ctx) const {
    board& local_board = board_of(ctx.rank());
    const auto begin = std::chrono::steady_clock::now();
    ++local_board.seen;
    while (local_board.seen < 2 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
      std::this_thread::yield();
    if (local_board.seen >= 2) ++local_board.sum;
  }
  void look(context& ctx, std::uint64_t left) const {
    board& local_board = board_of(ctx.rank());
    ++local_board.seen;
    ctx.charge(1e-6);
    if (left == 0 || local_board.reported != 0) return;
    ctx.send<&room::look>(ctx.self<room>(), left - 1);
    local_board.sum = left;
  }
  void enter(context& ctx) {
    ++changes;
    ctx.charge(1e-6);
    board_of(ctx.rank()).reported = 1;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(changes);
  }
};

TEST(access, shared_handlers_of_one_object_run_at_the_same_time_on_several_workers) {
  ASSERT_EQ(run(settings("inproc", 1, 2, 1),
                [](runtime& rt) {
                  fresh_board(rt);
                  const auto p = rt.create<room>();
                  rt.send<&room::meet>(p);
                  rt.send<&room::meet>(p);
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(board_of(rank_id(0)).sum, 2U) << "each has seen the other inside";
}

TEST(access, main_reads_beside_shared_handlers) {
  ASSERT_EQ(
      run(settings("inproc", 1, 2, 1),
          [](runtime& rt) {
            board& local_board = fresh_board(rt);
            const auto p = rt.create<room>();
            rt.with_shared(p, [&](const room&) {
              rt.send<&room::meet>(p);
              const auto begin = std::chrono::steady_clock::now();
              while (local_board.seen == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
                std::this_thread::yield();
              }
              EXPECT_EQ(local_board.seen, 1U) << "the handler waits for main";
              ++local_board.seen;
            });
            rt.wait_quiescence();
          }),
      0);
  EXPECT_EQ(board_of(rank_id(0)).sum, 1U);
}

/// Handlers that only read keep an object busy for ever, until one that writes has been there.
void stream_of_readers(runtime& rt, bool by_main) {
  constexpr std::uint64_t turns = 300'000;
  board& board = fresh_board(rt);
  const auto p = rt.create<room>();
  for (int reader = 0; reader < 4; ++reader) rt.send<&room::look>(p, turns);
  if (by_main) {
    rt.with_exclusive(p, [&](room& mine) {
      ++mine.changes;
      board.reported = 1;
    });
  } else {
    rt.send<&room::enter>(p);
  }
  rt.wait_quiescence();
  EXPECT_EQ(board.reported, 1U);
  EXPECT_GT(board.sum, 1U) << "the writer came last";
}

TEST(access, a_stream_of_shared_handlers_starves_no_exclusive_one) {
  for (const bool by_main : {false, true}) {
    for (const int workers : {1, 2, 4}) {
      ASSERT_EQ(run(settings("inproc", 1, workers, 1), [&](runtime& rt) { stream_of_readers(rt, by_main); }), 0);
      ASSERT_EQ(run(settings("sim", 1, workers, 1), [&](runtime& rt) { stream_of_readers(rt, by_main); }), 0);
    }
  }
}

/// Runs scenarios in turn, on machines drawn from as many seeds.
void on_many_machines(std::span<const scenario> all, std::uint64_t seeds) {
  constexpr const char* jitters[] = {"0", "0.1", "10"};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    rng draw(seed);
    const int ranks = 1 + static_cast<int>(draw.below(6)), workers = 1 + static_cast<int>(draw.below(3));
    config configuration = settings("sim", ranks, workers, seed);
    configuration.set("sim.jitter", jitters[draw.below(3)]);
    configuration.set("hops_max", draw.below(2) == 0 ? "1" : "8");
    configuration.set("balancer", draw.below(4) == 0 ? "steal" : "none");
    configuration.set("balance.tick", "2us");
    ASSERT_EQ(run(configuration, [&](runtime& rt) { all[seed % all.size()].run(rt, seed); }), 0);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(access, locks_hold_on_simulated_machines_of_many_seeds) {
  on_many_machines(lock_scenarios(), sanitized ? 50 : 2000);
}

TEST(access, colocations_hold_on_simulated_machines_of_many_seeds) {
  on_many_machines(colocation_scenarios(), sanitized ? 50 : 2000);
}

}  // namespace
}  // namespace nacre::tests
