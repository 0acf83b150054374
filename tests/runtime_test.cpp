// SPDX-License-Identifier: Apache-2.0
// The runtime on real threads: the operations of the public page, their errors, and a storm of all of them at once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using nacre::rank_id;

/// What the handlers of one test leave for it; its address travels in messages, since all ranks share this process.
struct board {
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::uint64_t> reported{0};
  std::atomic<std::uint64_t> failed{0};
  [[nodiscard]] std::uint64_t key() const noexcept { return reinterpret_cast<std::uintptr_t>(this); }
};
board& at(std::uint64_t key) { return *reinterpret_cast<board*>(key); }

struct shape {
  int ranks;
  int workers;
};

nacre::config settings(shape of) {
  nacre::config made;
  made.set("ranks", std::to_string(of.ranks));
  made.set("workers", std::to_string(of.workers));
  return made;
}

void greet(nacre::context& ctx, std::uint64_t key, std::string who) {
  at(key).sum += ctx.source().value() + who.size();
  ++at(key).seen;
}
double dot(std::vector<double> a, std::vector<double> b) {
  double sum = 0;
  for (std::size_t index = 0; index < a.size(); ++index) sum += a[index] * b[index];
  return sum;
}
void blob(std::uint64_t key, std::span<const double> view) { at(key).sum += view.size(); }
int refuse(int what) { throw std::runtime_error("no " + std::to_string(what)); }

struct cell {
  std::vector<double> u;
  std::uint64_t steps = 0;
  void step(nacre::context& ctx, int n) {
    if (ctx.self<cell>().id().valid()) steps += static_cast<std::uint64_t>(n);
  }
  double norm() const { return std::sqrt(dot(u, u)); }
  std::uint64_t count() const { return steps; }
  std::uint32_t where(nacre::context& ctx) const { return ctx.rank().value(); }
  int fail(int) { throw std::runtime_error("the cell is tired"); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(u, steps);
  }
  double load() const { return static_cast<double>(steps); }
};

nacre::task<double> twice(nacre::context& ctx, nacre::mobile_ptr<cell> p) {
  const double x = co_await ctx.call<&cell::norm>(p);
  co_return 2 * x;
}

class on_threads : public testing::TestWithParam<shape> {
 protected:
  static void run(const std::function<void(nacre::runtime&)>& main) {
    EXPECT_EQ(nacre::run(settings(GetParam()), main), 0);
  }
};

TEST_P(on_threads, messages_and_calls_between_ranks_arrive_and_are_answered) {
  board all;
  run([&](nacre::runtime& rt) {
    EXPECT_EQ(rt.size(), static_cast<std::uint32_t>(GetParam().ranks));
    EXPECT_EQ(rt.workers(), static_cast<std::uint32_t>(GetParam().workers));
    const rank_id next((rt.rank().value() + 1) % rt.size());
    rt.send<greet>(next, all.key(), "world");
    rt.send<greet>(nacre::with{.category = nacre::category::communication, .channel = nacre::channel::system}, next,
                   all.key(), "fast");
    rt.send<greet>(nacre::to_all, all.key(), "everyone");
    nacre::future<double> f = rt.call<dot>(next, std::vector<double>{1, 2}, std::vector<double>{3, 4});
    f.wait();
    EXPECT_TRUE(f.ready());
    EXPECT_EQ(f.get(), 11);
    const std::vector<double> data(100, 1.0);
    rt.send<blob>(next, all.key(), std::span<const double>(data));
    rt.wait_quiescence();
    const std::uint64_t n = rt.size();
    EXPECT_EQ(all.seen, n * (2 + n));
    EXPECT_EQ(all.sum, n * (5 + 4 + 100) + n * n * 8 + (n * (n - 1) / 2) * (2 + n));
  });
}

TEST_P(on_threads, objects_are_created_called_moved_and_destroyed_anywhere) {
  board all;
  run([&](nacre::runtime& rt) {
    const rank_id next((rt.rank().value() + 1) % rt.size());
    rt.on_delivery_error([&](const nacre::delivery_error& what) {
      if (what.handler.find("step") != std::string_view::npos) ++all.reported;
    });
    const nacre::mobile_ptr<cell> p = rt.create<cell>(std::vector<double>{3, 4});
    nacre::future<nacre::mobile_ptr<cell>> made = rt.create_on<cell>(next, std::vector<double>{6, 8});
    const nacre::mobile_ptr<cell> q = made.get();
    EXPECT_TRUE(rt.is_local(p));
    EXPECT_EQ(rt.is_local(q), rt.size() == 1);
    rt.send<&cell::step>(p, 5);
    EXPECT_EQ(rt.call<&cell::norm>(p).get(), 5);
    EXPECT_EQ(rt.call<&cell::norm>(q).get(), 10);
    EXPECT_EQ(rt.call<twice>(next, p).get(), 10);
    nacre::future<void> moved = rt.migrate(p, next);
    moved.get();
    EXPECT_EQ(rt.call<&cell::where>(p).get(), next.value());
    EXPECT_EQ(rt.call<&cell::count>(p).get(), 5U);
    rt.destroy(p);
    EXPECT_THROW(static_cast<void>(rt.call<&cell::norm>(p).get()), nacre::call_error);
    rt.send<&cell::step>(p, 1);
    rt.wait_quiescence();
    rt.barrier();
    EXPECT_EQ(all.reported, rt.size());
    EXPECT_EQ(rt.call<&cell::norm>(q).get(), 10);
  });
}

TEST_P(on_threads, collectives_give_every_rank_the_same) {
  run([](nacre::runtime& rt) {
    for (std::uint32_t round = 0; round < 20; ++round) {
      const rank_id root(round % rt.size());
      EXPECT_EQ(rt.broadcast(rt.rank() == root ? std::string("word") : std::string(), root), "word");
      EXPECT_EQ(rt.all_reduce(rt.rank().value() + round, std::plus<>{}),
                rt.size() * (rt.size() - 1) / 2 + rt.size() * round);
      rt.barrier();
    }
  });
}

void note_quiet(nacre::context&, std::uint64_t key) { at(key).sum = at(key).seen.load(); }

void relay(nacre::context& ctx, std::uint64_t key, int left) {
  ++at(key).seen;
  if (left != 0) ctx.send<relay>(rank_id((ctx.rank().value() + 1) % ctx.size()), key, left - 1);
}

TEST_P(on_threads, a_handler_for_quiescence_runs_after_the_last_message) {
  board all;
  run([&](nacre::runtime& rt) {
    if (rt.rank().value() == 0) rt.on_quiescence<note_quiet>(all.key());
    rt.send<relay>(rt.rank(), all.key(), 300);
    rt.wait_quiescence();
    EXPECT_EQ(all.seen, 301U * rt.size());
  });
  EXPECT_EQ(all.sum, all.seen);
}

TEST_P(on_threads, leaving_main_waits_for_all_that_is_under_way) {
  board all;
  run([&](nacre::runtime& rt) { rt.send<relay>(rt.rank(), all.key(), 200); });
  EXPECT_EQ(all.seen, 201U * static_cast<std::uint64_t>(GetParam().ranks));
}

TEST_P(on_threads, an_exception_in_a_called_handler_arrives_at_its_caller) {
  run([](nacre::runtime& rt) {
    const rank_id next((rt.rank().value() + 1) % rt.size());
    const nacre::mobile_ptr<cell> p = rt.create<cell>();
    try {
      static_cast<void>(rt.call<refuse>(next, 7).get());
      ADD_FAILURE();
    } catch (const nacre::call_error& error) {
      EXPECT_NE(std::string(error.what()).find("no 7"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("refuse"), std::string::npos) << error.what();
    }
    try {
      static_cast<void>(rt.call<&cell::fail>(p, 1).get());
      ADD_FAILURE();
    } catch (const nacre::call_error& error) {
      EXPECT_NE(std::string(error.what()).find("the cell is tired"), std::string::npos) << error.what();
    }
    EXPECT_EQ(rt.call<&cell::count>(p).get(), 0U);  // the object can still be used
  });
}

std::string wait_in_handler(nacre::context& ctx) {
  try {
    static_cast<void>(ctx.call<dot>(ctx.rank(), std::vector<double>{}, std::vector<double>{}).get());
    return "";
  } catch (const nacre::usage_error& error) {
    return error.what();
  }
}

TEST_P(on_threads, a_blocking_wait_in_a_handler_is_answered_with_what_to_write_instead) {
  run([](nacre::runtime& rt) {
    const std::string told = rt.call<wait_in_handler>(rank_id(0)).get();
    EXPECT_NE(told.find("co_await"), std::string::npos) << told;
  });
}

TEST_P(on_threads, misuse_is_told_at_once) {
  run([](nacre::runtime& rt) {
    EXPECT_THROW(rt.send<&cell::step>(nacre::mobile_ptr<cell>(), 1), nacre::usage_error);
    EXPECT_THROW(rt.send<refuse>(rank_id(rt.size()), 1), nacre::usage_error);
    const auto p = rt.create<cell>();
    EXPECT_THROW(rt.migrate(p, rank_id(rt.size())), nacre::usage_error);
    nacre::future<double> empty;
    EXPECT_THROW(empty.wait(), nacre::usage_error);
    const nacre::mobile_ptr<cell> stranger(nacre::object_id(rt.rank(), 123'456));
    EXPECT_THROW(static_cast<void>(rt.call<&cell::norm>(stranger).get()), nacre::call_error);
  });
}

/// An object of the storm: it counts, sends on, and moves and asks others.
struct drop {
  std::uint64_t key = 0;
  std::uint64_t hits = 0;
  void fall(nacre::context& ctx, std::vector<nacre::mobile_ptr<drop>> all, std::uint32_t left) {
    ++hits;
    ++at(key).seen;
    if (left == 0) return;
    const auto& next = all[(hits * 7 + left) % all.size()];
    if (left % 5 == 0) ctx.migrate(all[(hits + left) % all.size()], rank_id((ctx.rank().value() + left) % ctx.size()));
    if (left % 3 == 0) ctx.send<&drop::look>(next);
    ctx.send<&drop::fall>(next, std::move(all), left - 1);
  }
  void look() const { ++at(key).sum; }
  nacre::task<void> ask(nacre::context& ctx, nacre::mobile_ptr<drop> other) {
    const std::uint64_t before = hits;
    try {
      co_await ctx.call<&drop::look>(other);
    } catch (const nacre::call_error&) {
      ++at(key).failed;
    }
    if (hits != before) ++at(key).reported;  // somebody else had access meanwhile
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(key, hits);
  }
};

TEST_P(on_threads, a_storm_of_messages_and_migrations_loses_nothing_and_ends_exactly) {
  board all;
  constexpr std::uint64_t chains = 6, length = 60;
  run([&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<drop>> drops;
    for (std::uint32_t index = 0; index < 5; ++index) {
      drops.push_back(rt.create_on<drop>(rank_id(index % rt.size()), all.key()).get());
    }
    for (int round = 1; round <= 3; ++round) {
      for (std::uint64_t chain = 0; chain < chains; ++chain) {
        rt.send<&drop::fall>(drops[chain % drops.size()], drops, static_cast<std::uint32_t>(length - 1));
        rt.send<&drop::ask>(drops[0], drops[1 + chain % 4]);
      }
      rt.wait_quiescence();
      EXPECT_EQ(all.seen, static_cast<std::uint64_t>(round) * chains * length * rt.size());
      rt.barrier();
    }
    EXPECT_EQ(all.failed, 0U);
    EXPECT_EQ(all.reported, 0U);
    rt.barrier();
    for (const auto& each : drops) rt.send<&drop::ask>(drops[0], each == drops[0] ? drops[1] : each);
    for (std::size_t index = 1; index < drops.size(); ++index) rt.destroy(drops[index]);
    rt.wait_quiescence();
  });
}

INSTANTIATE_TEST_SUITE_P(of_several_shapes, on_threads,
                         testing::Values(shape{1, 1}, shape{1, 3}, shape{2, 2}, shape{4, 1}, shape{4, 3}),
                         [](const auto& given) {
                           return std::to_string(given.param.ranks) + "_ranks_" + std::to_string(given.param.workers) +
                                  "_workers";
                         });

/// Goes on until somebody has been here, or for so long that nobody will come.
void turn_for_ever(nacre::context& ctx, std::uint64_t key, std::uint64_t turns) {
  if (at(key).seen != 0 || turns == 0) return;
  ctx.send<turn_for_ever>(ctx.rank(), key, turns - 1);
  at(key).sum = turns;
}
void come_by(std::uint64_t key) { at(key).seen = 1; }

TEST(runtime_fairness, what_main_sends_is_run_beside_handlers_that_keep_sending_to_their_own_rank) {
  board all;
  EXPECT_EQ(nacre::run(settings({1, 1}),
                       [&](nacre::runtime& rt) {
                         constexpr std::uint64_t turns = 2'000'000;
                         rt.send<turn_for_ever>(rt.rank(), all.key(), turns);
                         rt.send<turn_for_ever>(rt.rank(), all.key(), turns);
                         while (all.sum == 0) std::this_thread::yield();  // the stand-in plays worker 0
                         rt.send<come_by>(rt.rank(), all.key());
                         rt.wait_quiescence();
                       }),
            0);
  EXPECT_EQ(all.seen, 1U);
  EXPECT_GT(all.sum, 2U) << "it came last";
}

TEST(runtime_ends, a_job_does_not_sleep_on_its_way_out) {
  // A thread that nobody wakes sleeps for 100 ms. Half of the jobs may be slow, for the machine is busy.
  int slow = 0;
  for (int job = 0; job < 10; ++job) {
    nacre::config made = settings({1, 1});
    made.set("progress", "dedicated");
    const auto begin = std::chrono::steady_clock::now();
    const auto compute = [](nacre::runtime& rt) {
      while (rt.now() < 2e-3) continue;  // until the poll loop has gone to sleep
    };
    EXPECT_EQ(nacre::run(made, compute), 0);
    if (std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(90)) ++slow;
  }
  EXPECT_LE(slow, 5);
}

void tire(nacre::context& ctx, nacre::mobile_ptr<cell> p) { ctx.send<&cell::fail>(p, 1); }

TEST(runtime_death, an_exception_in_a_handler_ends_the_job_and_names_handler_object_and_rank) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [] {
    std::exit(nacre::run(settings({2, 1}), [](nacre::runtime& rt) {
      if (rt.rank().value() == 0) rt.send<tire>(rank_id(1), rt.create_on<cell>(rank_id(1)).get());
    }));
  };
  EXPECT_EXIT(job(), testing::ExitedWithCode(1), "rank 1: the handler .*fail.* threw: the cell is tired .object 1:1");
}

TEST(runtime_death, an_exception_in_main_ends_the_job_with_its_text) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [] {
    std::exit(nacre::run(settings({2, 1}), [](nacre::runtime& rt) {
      if (rt.rank().value() == 1) throw std::runtime_error("out of paper");
      rt.barrier();
    }));
  };
  EXPECT_EXIT(job(), testing::ExitedWithCode(1), "rank 1: main threw: out of paper");
}

}  // namespace
