// SPDX-License-Identifier: Apache-2.0
// What a rank that has nothing to do costs: its balancer is asked seldom, if it waits for others to call.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include <nacre/nacre.hpp>

namespace nacre::tests {
namespace {

/// Keeps its rank busy, in virtual time.
struct worker_bee {
  void work(context& ctx, double seconds) { ctx.charge(seconds); }
  template <class Archive>
  void serialize(Archive&) {}
};

struct idler final : balancer {
  idler(std::uint64_t& to, bool sleeps) : ticks(to), at_rest(sleeps) {}
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
  config how;
  how.set("transport", "sim");
  how.set("ranks", "2");
  how.set("balancer", "idler_of_the_test");
  EXPECT_EQ(run(how,
                [&](runtime& rt) {
                  if (rt.rank() == rank_id(0)) rt.send<&worker_bee::work>(rt.create<worker_bee>(), seconds);
                  rt.wait_quiescence();
                }),
            0);
  return ticks;
}

TEST(idle_ranks, whose_balancer_rests_ask_it_about_once_a_second) {
  const std::uint64_t short_rest = ticks_of_the_idle(1, true), long_rest = ticks_of_the_idle(21, true);
  EXPECT_GE(long_rest - short_rest, 10u);
  EXPECT_LE(long_rest - short_rest, 21u);
  EXPECT_LE(short_rest, 100u) << "until it has come to rest";
}

TEST(idle_ranks, whose_balancer_does_not_rest_ask_it_often) { EXPECT_GE(ticks_of_the_idle(1, false), 500u); }

}  // namespace
}  // namespace nacre::tests
