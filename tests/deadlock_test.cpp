// SPDX-License-Identifier: Apache-2.0
// A simulated job ends as a deadlock when nothing can happen any more, whatever ticks, and never before.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "small_jobs.hpp"

namespace {

using nacre::tests::hermit;

using settings = std::map<std::string, std::string>;

int run_simulated(const settings& options, const std::function<void(nacre::runtime&)>& main) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  for (const auto& [name, value] : options) configuration.set(name, value);
  return nacre::run(configuration, main);
}

/// An object that goes on, so that balancers have something to move.
struct traveller {
  std::uint64_t seen = 0;
  void take() { ++seen; }
  std::uint64_t count() const { return seen; }
  [[nodiscard]] double load() const { return 1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seen);
  }
};

void never(nacre::context&, hermit&, hermit&) {}

class each_balancer : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static settings ticking() {
    return {{"ranks", "4"}, {"workers", "2"}, {"balancer", GetParam()}, {"balance.tick", "1us"}};
  }
};

TEST_P(each_balancer, does_not_hide_a_coroutine_that_waits_for_its_own_object) {
  EXPECT_EXIT(run_simulated(ticking(),
                            [](nacre::runtime& rt) {
                              for (int i = 0; i < 8; ++i) static_cast<void>(rt.create<traveller>());
                              const auto alone = rt.create<hermit>();
                              if (rt.rank() == nacre::rank_id(1)) rt.call<&hermit::wait>(alone).get();
                            }),
              testing::ExitedWithCode(1),
              "deadlock: nothing can happen any more, while main waits on rank 0, 1, 2, 3 .*hermit.* on rank .: its "
              "coroutine handler is suspended, messages that wait for it: 1");
}

TEST_P(each_balancer, does_not_hide_a_colocation_with_an_object_that_never_comes_free) {
  EXPECT_EXIT(run_simulated(ticking(),
                            [](nacre::runtime& rt) {
                              for (int i = 0; i < 8; ++i) static_cast<void>(rt.create<traveller>());
                              const auto alone = rt.create<hermit>(), other = rt.create<hermit>();
                              if (rt.rank() != nacre::rank_id(1)) return;
                              auto stuck = rt.call<&hermit::wait>(alone);
                              rt.colocate<never>(alone, other);
                              stuck.get();
                            }),
              testing::ExitedWithCode(1), "deadlock: nothing can happen any more");
}

INSTANTIATE_TEST_SUITE_P(built_in, each_balancer,
                         testing::Values("none", "adaptive", "steal", "lifeline", "share", "hierarchical",
                                         "master_worker", "diffusion", "gossip", "greedy_refine", "rotate", "random"),
                         [](const auto& each) { return std::string(each.param); });

/// A hermit that runs something before it is alone, and can be moved meanwhile.
struct late_hermit : hermit {
  void take(nacre::context& ctx) { ctx.charge(1e-6); }
  nacre::task<int> wait_for_ever(nacre::context& ctx) {
    co_await ctx.call<&late_hermit::take>(ctx.self<late_hermit>());
    co_return 1;
  }
};

/// Moves every object that has messages to the next rank, at each tick: messages chase it.
struct chaser final : nacre::balancer {
  void on_tick(nacre::balancer_host& host) override {
    const nacre::rank_id next((host.rank().value() + 1) % host.size());
    for (const nacre::object_load& each : host.local_loads()) host.migrate(each.object, next);
  }
};

struct chase {
  unsigned ranks;
  std::uint64_t messages;
  const char* tick;
};

TEST(deadlock, is_none_while_messages_chase_an_object_for_long) {
  nacre::register_balancer("chaser", [](const nacre::config&) { return std::make_unique<chaser>(); });
  for (const chase& subject : {chase{5, 5'000, "5us"}, chase{8, 2'000, "2us"}, chase{16, 1'000, "2us"}}) {
    for (const char* seed : {"1", "2"}) {
      std::uint64_t seen = 0;
      const std::uint64_t each = nacre::tests::sanitized ? subject.messages / 5 : subject.messages;
      const int code = run_simulated({{"ranks", std::to_string(subject.ranks)},
                                      {"balancer", "chaser"},
                                      {"balance.tick", subject.tick},
                                      {"seed", seed}},
                                     [&](nacre::runtime& rt) {
                                       const bool first = rt.rank() == nacre::rank_id(0);
                                       nacre::mobile_ptr<traveller> object;
                                       if (first) object = rt.create<traveller>();
                                       object = rt.broadcast(object, nacre::rank_id(0));
                                       rt.barrier();
                                       for (std::uint64_t i = 0; i < each; ++i) rt.send<&traveller::take>(object);
                                       rt.wait_quiescence();
                                       if (first) seen = rt.call<&traveller::count>(object).get();
                                     });
      EXPECT_EQ(code, 0);
      EXPECT_EQ(seen, each * subject.ranks) << subject.ranks << " ranks, seed " << seed;
    }
  }
}

TEST(deadlock, names_the_messages_that_wait_at_their_sources) {
  nacre::register_balancer("chaser", [](const nacre::config&) { return std::make_unique<chaser>(); });
  EXPECT_EXIT(run_simulated({{"ranks", "3"}, {"balancer", "chaser"}, {"balance.tick", "5us"}},
                            [](nacre::runtime& rt) {
                              if (rt.rank() != nacre::rank_id(0)) return;
                              const auto object = rt.create<late_hermit>();
                              for (int i = 0; i < 300; ++i) rt.send<&late_hermit::take>(object);
                              auto stuck = rt.call<&late_hermit::wait_for_ever>(object);
                              for (int i = 0; i < 500; ++i) rt.send<&late_hermit::take>(object);
                              stuck.get();
                            }),
              testing::ExitedWithCode(1),
              "deadlock: nothing can happen any more.*late_hermit.* on rank .: its coroutine handler is suspended.*; "
              "rank 0 keeps [0-9][0-9]+ messages to object 0:1 until it clears them, on rank [012]");
}

/// Waits for a message of each neighbour on a line before it goes on to the next step.
struct cell {
  static constexpr int cells = 40, steps = 12, lost_step = 5, lost_by = 30;
  nacre::awaited<> halo(int /*step*/) { return {}; }
  nacre::task<void> step(nacre::context& ctx, int now, nacre::array_ptr<cell> all) {
    const auto place = static_cast<int>(ctx.index()[0]);
    int expected = 0;
    for (const int next : {place - 1, place + 1}) {
      if (next < 0 || next >= cells) continue;
      ++expected;
      if (now == lost_step && place == lost_by && next > place) continue;  // the fault
      ctx.send<&cell::halo>(all[next], now);
    }
    while (expected-- > 0) co_await ctx.next<&cell::halo>(now);
    if (now + 1 < steps) ctx.send<&cell::step>(ctx.self<cell>(), now + 1, all);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(deadlock, names_the_element_whose_message_was_lost_before_those_that_wait_for_later_steps) {
  EXPECT_EXIT(run_simulated({{"ranks", "4"}},
                            [](nacre::runtime& rt) {
                              const auto all = rt.create_array<cell>(nacre::extents{cell::cells});
                              if (rt.rank() == nacre::rank_id(0)) rt.send<&cell::step>(all, 0, all);
                              rt.wait_quiescence();
                            }),
              testing::ExitedWithCode(1),
              "for a result or for the others; element .31. of array 1 [^;]* with the number 5; [^;]*"
              " with the number 6; .*; and [0-9]+ more");
}

struct mailbox {
  nacre::awaited<int> letter(int, int value) { return value; }
};

TEST(deadlock, names_the_message_that_main_asks_for) {
  EXPECT_EXIT(
      run_simulated({{"ranks", "3"}},
                    [](nacre::runtime& rt) {
                      const auto boxes = rt.create_group<mailbox>();
                      if (rt.rank() == nacre::rank_id(0)) {
                        rt.send<&mailbox::letter>(boxes[nacre::rank_id(1)], 4, 1);
                      }
                      if (rt.rank() == nacre::rank_id(1)) {
                        static_cast<void>(rt.next<&mailbox::letter>(boxes, 5).get());
                      }
                    }),
      testing::ExitedWithCode(1),
      "deadlock: nothing can happen any more.*main of rank 1 awaits .*mailbox::letter with the number 5 of group "
      "1, and has one with the number 4");
}

TEST(deadlock, is_none_while_objects_move_for_ever_and_quiescence_is_still_to_be_found) {
  for (const char* balancer : {"rotate", "random"}) {
    for (int seed = 1; seed <= 4; ++seed) {
      const int code = run_simulated({{"ranks", "6"},
                                      {"balancer", balancer},
                                      {"balance.tick", "1us"},
                                      {"balance.rotate.interval", "1us"},
                                      {"balance.random.interval", "1us"},
                                      {"quiescence_calm", "2ms"},
                                      {"seed", std::to_string(seed)}},
                                     [](nacre::runtime& rt) {
                                       for (int i = 0; i < 4; ++i) static_cast<void>(rt.create<traveller>());
                                       rt.wait_quiescence();
                                     });
      EXPECT_EQ(code, 0) << balancer << ", seed " << seed;
    }
  }
}

int next_number(int number) { return number + 1; }

TEST(deadlock, is_none_while_main_looks_and_each_look_lets_time_go_on) {
  for (const char* aggregate : {"off", "on"}) {
    int answers = 0;
    const int code = run_simulated({{"ranks", "3"}, {"aggregate", aggregate}}, [&](nacre::runtime& rt) {
      const nacre::rank_id next((rt.rank().value() + 1) % rt.size());
      nacre::future<int> answer = rt.call<next_number>(next, 4);
      std::uint64_t looks = 0;
      while (!answer.ready()) ++looks;
      EXPECT_GT(looks, 1U);
      if (answer.get() == 5) ++answers;
      const double begin = rt.now();
      looks = 0;
      while (rt.now() < begin + 1e-4) ++looks;
      EXPECT_LE(looks, 1'000U) << "a look takes 100 ns";
    });
    EXPECT_EQ(code, 0);
    EXPECT_EQ(answers, 3);
  }
}

}  // namespace
