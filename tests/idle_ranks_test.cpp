// SPDX-License-Identifier: Apache-2.0
// What a rank that has nothing to do costs: its balancer is asked seldom, if it waits for others to call.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

struct idler final : balancer {
  idler(std::uint64_t& target, bool sleeps) : ticks(target), at_rest(sleeps) {}
  void on_tick(balancer_host& host) override { ticks += host.rank() == rank_id(1) ? 1 : 0; }
  void on_message(balancer_host&, rank_id, std::span<const std::byte>) override {}
  [[nodiscard]] bool rests() const override { return at_rest; }
  std::uint64_t& ticks;
  bool at_rest;
};

/// Ticks of rank 1, which is idle, while rank 0 works for so long.
std::uint64_t ticks_of_the_idle(double seconds, bool rests) {
  std::uint64_t ticks = 0;
  register_balancer("idler_of_the_test", [&](const config&) { return std::make_unique<idler>(ticks, rests); });
  run_simulated({{"ranks", "2"}, {"balancer", "idler_of_the_test"}}, [&](runtime& rt) {
    if (rt.rank() == rank_id(0)) rt.send<&plain::run>(rt.create<plain>(seconds));
    rt.wait_quiescence();
  });
  return ticks;
}

TEST(idle_ranks, whose_balancer_rests_ask_it_about_once_a_second) {
  const std::uint64_t short_rest = ticks_of_the_idle(1, true), long_rest = ticks_of_the_idle(21, true);
  EXPECT_GE(long_rest - short_rest, 10u);
  EXPECT_LE(long_rest - short_rest, 21u);
  EXPECT_LE(short_rest, 100u) << "until it has come to rest";
}

TEST(idle_ranks, whose_balancer_does_not_rest_ask_it_often) { EXPECT_GE(ticks_of_the_idle(1, false), 500u); }

/// Rank 0 sends its word once a while has passed. Rank 1 rests until then, and notes how long the next look takes.
struct called_late final : balancer {
  explicit called_late(double& end) : waited(end) {}
  void on_tick(balancer_host& host) override {
    if (host.rank() == rank_id(0)) {
      if (!called && host.now() > 2.3) host.send(rank_id(1), pack(std::uint32_t{1}));
      called = host.now() > 2.3;
    } else if (called && waited == 0) {
      waited = host.now() - called_at;
    }
  }
  void on_message(balancer_host& host, rank_id, std::span<const std::byte>) override {
    called = true;
    called_at = host.now();
  }
  [[nodiscard]] bool rests() const override { return !called; }
  double& waited;
  double called_at = 0;
  bool called = false;
};

TEST(idle_ranks, whose_balancer_a_message_has_called_ask_it_at_once_and_not_only_at_their_next_tick) {
  double waited = 0;
  register_balancer("called_late_of_the_test", [&](const config&) { return std::make_unique<called_late>(waited); });
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", "called_late_of_the_test"}}, [&](runtime& rt) {
    for (int n = 0; rt.rank() == rank_id(0) && n < 2; ++n) {
      rt.send<&plain::run>(rt.create<plain>(2.35));
    }
    rt.wait_quiescence();
  });
  EXPECT_GT(waited, 0);
  EXPECT_LE(waited, 1e-3);
}

/// Works in short turns, and notes the ticks of its rank at its first one and at its last.
struct busy_bee {
  const std::uint64_t* ticks = nullptr;
  std::vector<std::uint64_t>* noted = nullptr;

  void turn(context& ctx, std::uint32_t left) {
    if (left == 0 || noted->empty()) noted->push_back(*ticks);
    ctx.charge(10e-6);
    if (left != 0) ctx.send<&busy_bee::turn>(ctx.self<busy_bee>(), left - 1);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(ranks, that_have_got_work_do_not_look_as_often_as_those_that_have_just_run_dry) {
  std::uint64_t ticks = 0;
  std::vector<std::uint64_t> noted;
  register_balancer("idler_of_the_test", [&](const config&) { return std::make_unique<idler>(ticks, false); });
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", "idler_of_the_test"}, {"balance.tick", "1s"}},
                [&](runtime& rt) {
                  if (rt.rank() == rank_id(1)) rt.send<&busy_bee::turn>(rt.create<busy_bee>(&ticks, &noted), 10'000U);
                  rt.wait_quiescence();
                });
  ASSERT_EQ(noted.size(), 2u);
  EXPECT_LE(noted[1] - noted[0], 1u) << "none is due";
}

}  // namespace
}  // namespace nacre::tests
