// SPDX-License-Identifier: Apache-2.0
// How objects arrive where a balancer moves them, and what the program decides: priorities, phases without balancing.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "small_jobs.hpp"

namespace {

using nacre::tests::hermit;
using nacre::tests::piece;
using nacre::tests::plain;
using nacre::tests::run_simulated;
using nacre::tests::settings;

/// Takes long to unpack, too.
struct bulky {
  std::vector<std::uint8_t> body = std::vector<std::uint8_t>(std::size_t{1} << 20);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(body);
  }
};

template <class Object>
void arrives_ahead_of_all() {
  for (const char* const scheduler : {"steal", "fifo", "priority"}) {
    double took = 0;
    run_simulated({{"ranks", "2"}, {"scheduler", scheduler}}, [&](nacre::runtime& rt) {
      const auto self = rt.create<Object>();
      rt.barrier();
      if (rt.rank().value() == 1) {
        for (int n = 0; n < 10; ++n) rt.send<&plain::run>(rt.create<plain>(1.0));
      } else {
        const double begin = rt.now();
        rt.migrate(self, nacre::rank_id{1}).get();
        took = rt.now() - begin;
      }
    });
    EXPECT_LT(took, 1.1) << scheduler << ": its worker looks after each handler, and ten wait";
  }
}

TEST(moves, an_object_arrives_ahead_of_all_that_waits_there) { arrives_ahead_of_all<plain>(); }
TEST(moves, a_large_object_does_so_too_if_all_workers_are_busy) { arrives_ahead_of_all<bulky>(); }

TEST(phases, without_balancing_nothing_moves_and_with_it_something_does) {
  std::vector<std::uint64_t> moved;
  run_simulated({{"ranks", "4"}, {"balancer", "steal"}}, [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<piece>> all;
    for (int n = 0; rt.rank().value() == 0 && n < 32; ++n) all.push_back(rt.create<piece>(1e-3));
    for (const bool enabled : {false, true, false}) {
      rt.enable_balancing(enabled);
      rt.barrier();
      const std::uint64_t previous = rt.counters().migrations_out;
      for (const auto each : all) rt.send<&piece::run>(each);
      rt.wait_quiescence();
      const std::uint64_t now = rt.all_reduce(rt.counters().migrations_out - previous, std::plus<>{});
      if (rt.rank().value() == 0) moved.push_back(now);
    }
  });
  ASSERT_EQ(moved.size(), 3u);
  EXPECT_EQ(moved[0], 0u);
  EXPECT_GT(moved[1], 8u);
  EXPECT_EQ(moved[2], 0u);
}

/// Waits, so that what a balancer wants of it stays open.
struct sleeper {
  int naps = 0;
  nacre::task<int> sleep(nacre::context& ctx) {
    co_await ctx.sleep(1.0);
    co_return static_cast<int>(ctx.rank().value());
  }
  int rank_now(nacre::context& ctx) { return static_cast<int>(ctx.rank().value()); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(naps);
  }
};

/// Wants all objects of rank 0 to go to rank 1.
struct expelling final : nacre::balancer {
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0) return;
    for (const nacre::object_load& each : host.local_loads()) host.migrate(each.object, nacre::rank_id{1});
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
};

TEST(phases, without_balancing_a_wish_that_was_open_moves_nothing) {
  nacre::register_balancer("expelling_of_the_test", [](const nacre::config&) { return std::make_unique<expelling>(); });
  for (const bool enabled : {true, false}) {
    int rank = -1;
    run_simulated({{"ranks", "2"}, {"balancer", "expelling_of_the_test"}}, [&](nacre::runtime& rt) {
      if (rt.rank().value() != 0) return;
      const auto object = rt.create<sleeper>();
      nacre::future<int> slept = rt.call<&sleeper::sleep>(object);
      rt.sleep(0.5).wait();  // the balancer has seen it
      rt.enable_balancing(enabled);
      static_cast<void>(slept.get());
      rank = rt.call<&sleeper::rank_now>(object).get();
    });
    EXPECT_EQ(rank, enabled ? 1 : 0);
  }
}

/// Wants something of a rank that is not there.
struct astray final : nacre::balancer {
  explicit astray(bool sends) : is_sender(sends) {}
  void on_tick(nacre::balancer_host& host) override {
    const nacre::rank_id nobody{host.size()};
    const std::array<std::byte, 1> text{};
    if (is_sender) return host.send(nobody, text);
    for (const nacre::object_load& each : host.local_loads()) host.migrate(each.object, nobody);
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  bool is_sender;
};

TEST(balancing_death, a_balancer_that_names_a_rank_that_is_not_there_is_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool sends : {true, false}) {
    const auto job = [sends] {
      nacre::register_balancer("astray", [sends](const nacre::config&) { return std::make_unique<astray>(sends); });
      nacre::config configuration;
      configuration.set("transport", "sim");
      configuration.set("ranks", "2");
      configuration.set("balancer", "astray");
      std::exit(nacre::run(configuration, [](nacre::runtime& rt) {
        const auto object = rt.create<plain>(1e-3);
        for (int n = 0; n < 1000; ++n) rt.send<&plain::run>(object);
        rt.wait_quiescence();
      }));
    };
    EXPECT_EXIT(job(), testing::ExitedWithCode(1), "the balancer 'astray'.* there is no rank 2 among 2");
  }
}

/// Says when it runs.
struct urgent_piece {
  double urgency = 0;
  nacre::mobile_ptr<struct order_board> tell{};
  void run(nacre::context& ctx);
  double priority() const { return urgency; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(urgency, tell);
  }
};
struct order_board {
  std::vector<double> order{};
  void note(double value) { order.push_back(value); }
  std::vector<double> copy() const { return order; }
  double priority() const { return 1000; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(order);
  }
};
void urgent_piece::run(nacre::context& ctx) {
  ctx.charge(1e-3);
  ctx.send<&order_board::note>(tell, urgency);
}

std::vector<double> order_of_running(const std::string& scheduler) {
  std::vector<double> order;
  run_simulated({{"scheduler", scheduler}}, [&](nacre::runtime& rt) {
    const auto board = rt.create<order_board>();
    std::vector<nacre::mobile_ptr<urgent_piece>> all;
    for (const double urgency : {3.0, 0.0, 5.0, -1.0, 4.0}) all.push_back(rt.create<urgent_piece>(urgency, board));
    for (const auto each : all) rt.send<&urgent_piece::run>(each);
    rt.wait_quiescence();
    order = rt.call<&order_board::copy>(board).get();
  });
  return order;
}

/// Gives each item to one worker only, in turns.
struct dealer final : nacre::scheduler {
  explicit dealer(std::uint32_t workers) : hands(workers) {}
  void push(nacre::worker_id, nacre::work& item) override {
    const std::scoped_lock lock(guard);
    hands[count++ % hands.size()].push_back(&item);
  }
  [[nodiscard]] nacre::work* pop(nacre::worker_id worker) override {
    const std::scoped_lock lock(guard);
    std::deque<nacre::work*>& hand = hands[worker.value()];
    if (hand.empty()) return nullptr;
    nacre::work* const next = hand.front();
    hand.pop_front();
    return next;
  }
  std::mutex guard;
  std::size_t count = 0;
  std::vector<std::deque<nacre::work*>> hands;
};

int worker_of(nacre::context& ctx) { return static_cast<int>(ctx.worker().value()); }

TEST(schedulers, that_keep_an_item_for_one_worker_have_it_run_there) {
  nacre::register_scheduler("dealer_of_the_test", [](const nacre::config&, const nacre::scheduler_site& site) {
    return std::make_unique<dealer>(site.workers);
  });
  for (const char* transport : {"sim", "inproc"}) {
    for (const char* ranks : {"1", "2"}) {
      run_simulated({{"transport", transport},
                     {"ranks", ranks},
                     {"workers", "4"},
                     {"balancer", "none"},
                     {"scheduler", "dealer_of_the_test"}},
                    [](nacre::runtime& rt) {
                      for (int n = 0; n < 40; ++n)
                        EXPECT_LT(rt.call<worker_of>(nacre::rank_id{rt.size() - 1}).get(), 4);
                    });
    }
  }
}

TEST(priorities, the_most_urgent_object_runs_first_where_the_scheduler_heeds_them) {
  EXPECT_EQ(order_of_running("fifo"), (std::vector<double>{3, 0, 5, -1, 4}));
  EXPECT_EQ(order_of_running("priority"), (std::vector<double>{5, 4, 3, 0, -1}));
}

/// Every rank has one object, which runs so many messages of 100 us, one after the other. Returns the messages that
/// ranks have sent.
struct endless {
  int left = 0;
  void run(nacre::context& ctx) {
    ctx.charge(100e-6);
    if (--left != 0) ctx.send<&endless::run>(ctx.self<endless>());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left);
  }
};
std::uint64_t sent_by_busy_ranks(const std::string& balancer, int turns) {
  std::uint64_t sent = 0;
  run_simulated({{"ranks", "4"}, {"balancer", balancer}}, [&](nacre::runtime& rt) {
    rt.send<&endless::run>(rt.create<endless>(turns));
    rt.wait_quiescence();
    sent += rt.counters().messages_sent;
  });
  return sent;
}

class silent_balancer : public testing::TestWithParam<const char*> {};

TEST_P(silent_balancer, sends_nothing_while_every_rank_works_however_long_that_is) {
  const auto extra = [](int turns) {
    return sent_by_busy_ranks(GetParam(), turns) - sent_by_busy_ranks("none", turns);
  };
  const std::uint64_t of_the_end = extra(20);  // when ranks have nothing left, they ask
  EXPECT_LE(of_the_end, 60u);
  EXPECT_LE(extra(400), of_the_end + 12) << "380 turns of 4 ranks more";
}

INSTANTIATE_TEST_SUITE_P(built_in, silent_balancer,
                         testing::Values("adaptive", "steal", "lifeline", "hierarchical", "diffusion", "gossip",
                                         "master_worker"),
                         [](const auto& each) { return std::string(each.param); });

/// A balancer ticks so often that millions of events pass while one message is under way, or one handler works.
settings ticking_for_ever() {
  return {{"ranks", "2"}, {"workers", "2"}, {"balancer", "steal"}, {"balance.tick", "1us"}};
}

TEST(balancing, does_not_make_slow_messages_and_handlers_look_like_a_deadlock) {
  const char* const slow = nacre::tests::sanitized ? "100ms" : "1s";
  settings options = ticking_for_ever();
  options["sim.latency"] = slow;
  int answers = 0;
  run_simulated(options, [&](nacre::runtime& rt) {
    const auto patient = rt.create<piece>(nacre::tests::sanitized ? 0.1 : 3.0);
    if (rt.rank() == nacre::rank_id(0)) {
      rt.call<&piece::run>(patient).get();
      ++answers;
    }
    rt.barrier();
  });
  EXPECT_EQ(answers, 1);
}

TEST(balancing, does_not_hide_a_deadlock) {
  EXPECT_EXIT(run_simulated(ticking_for_ever(),
                            [](nacre::runtime& rt) {
                              const auto alone = rt.create<hermit>();
                              if (rt.rank() == nacre::rank_id(0)) rt.call<&hermit::wait>(alone).get();
                            }),
              testing::ExitedWithCode(1), "deadlock: nothing can happen any more, while main waits on rank 0");
}

}  // namespace
