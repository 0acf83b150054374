// SPDX-License-Identifier: Apache-2.0
// Handlers ask whether their callers have given up: random programs under simulation, in which all that is said is
// compared with what the callers did; virtual time; and the handlers that no caller can give up.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "drawn_machine.hpp"
#include "runtime/engine.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double news_max = 0.5;  // seconds, by far more than a message takes on a drawn machine

/// The virtual times at which the calls of a simulated job were given up, by a number of their own; under simulation
/// all ranks are in one thread.
struct call_record {
  std::map<std::uint64_t, double> given_up, asked;  // the latter: for the first time
  std::uint64_t early = 0, missed = 0, told = 0, ended = 0;
};
call_record& record_of_this_thread() {
  thread_local call_record record;
  return record;
}

/// Compares what the runtime says with the record. True: the handler is to end.
bool ask(context& ctx, std::uint64_t number) {
  call_record& record = record_of_this_thread();
  const double now = ctx.now();
  const auto match = record.given_up.find(number);
  const double since = match != record.given_up.end() ? match->second : never;
  if (ctx.cancelled()) {
    record.early += now + 1e-9 < since ? 1 : 0;  // rounding of times
    ++record.told;
    return true;
  }
  const double begin = record.asked.try_emplace(number, now).first->second;
  const bool missed = now > std::max(since, begin) + news_max;
  record.missed += missed ? 1 : 0;
  return missed;
}

task<void> naps(context& ctx, std::uint64_t number, int count, double seconds) {
  for (int nap = 0; nap < count; ++nap) {
    if (ask(ctx, number)) co_return;
    co_await ctx.sleep(seconds);
  }
  ++record_of_this_thread().ended;
}

struct sleeper {
  std::uint64_t visits = 0;
  task<void> nap(context& ctx, std::uint64_t number, int count, double seconds) {
    ++visits;
    co_await naps(ctx, number, count, seconds);
  }
  task<void> look(context& ctx, std::uint64_t number, int count, double seconds) const {  // beside others
    co_await naps(ctx, number, count, seconds);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(visits);
  }
};

std::uint64_t watched_here(context& ctx) { return ctx.core().messages().cancellations().count(); }

void random_main(runtime& rt, std::uint64_t seed) {
  rng random = rng(seed).fork(100 + rt.rank().value());
  call_record& record = record_of_this_thread();
  if (rt.rank() == rank_id(0)) record = {};
  rt.barrier();
  const auto objects = rt.create_array<sleeper>(extents{6});
  std::vector<std::pair<std::uint64_t, future<void>>> calls;
  for (std::uint64_t action = 0; action < 24; ++action) {
    const std::uint64_t number = rt.rank().value() * 1000 + action;
    const bool limited = random.below(3) == 0;
    const double deadline = limited ? 1e-3 * static_cast<double>(random.below(3000)) : never;
    if (limited) record.given_up[number] = rt.now() + deadline;
    const with options{.deadline = deadline};
    const int count = random.below(2) == 0 ? 100000 : static_cast<int>(random.below(20));
    const double seconds = 1e-2 * static_cast<double>(1 + random.below(20));
    const auto object = objects[std::int64_t(random.below(6))];
    switch (random.below(4)) {
      case 0:
        calls.emplace_back(number, rt.call<&sleeper::nap>(options, object, number, limited ? count : 10, seconds));
        break;
      case 1:
        static_cast<void>(rt.migrate(object, rank_id(static_cast<std::uint32_t>(random.below(rt.size())))));
        calls.emplace_back(number, rt.call<&sleeper::look>(options, object, number, count, seconds));
        break;
      default:
        const auto rank = rank_id(static_cast<std::uint32_t>(random.below(rt.size())));
        calls.emplace_back(number, rt.call<naps>(options, rank, number, count, seconds));
    }
    if (random.below(2) == 0) rt.sleep(1e-3 * static_cast<double>(random.below(100))).get();
  }
  for (auto& [number, call] : calls) {  // whatever has not ended is given up, in this order
    if (random.below(3) != 0) static_cast<void>(call.wait_for(1e-3 * static_cast<double>(random.below(50))));
    if (call.ready()) continue;
    double& since = record.given_up.try_emplace(number, never).first->second;
    since = std::min(since, rt.now());
    call.cancel();
  }
  rt.wait_quiescence();
  for (int round = 0; rt.all_reduce(rt.call<watched_here>(rt.rank()).get(), std::plus<>{}) != 0; ++round) {
    ASSERT_LT(round, 1000) << "calls are watched that are over";
    rt.sleep(1e-3).get();
  }
  EXPECT_EQ(record.early, 0U) << "told that a caller has given up which waits";
  EXPECT_EQ(record.missed, 0U) << "not told that a caller has given up";
  rt.barrier();
  rt.destroy(objects);
}

TEST(cancelled, says_what_the_callers_did_in_simulated_random_programs) {
  const char* const seeds = std::getenv("NACRE_CANCELLED_SEEDS");
  const std::uint64_t last = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : sanitized ? 10 : 60;
  std::uint64_t told = 0, ended = 0;
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    run_simulated(drawn_machine(seed), [&](runtime& rt) { random_main(rt, seed); });
    told += record_of_this_thread().told;
    ended += record_of_this_thread().ended;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(told, last) << "hardly any handler was given up, so that this tests nothing";
  EXPECT_GT(ended, last);
}

std::vector<double>& times_of_this_thread() {
  thread_local std::vector<double> values;
  return values;
}
task<void> notes_when_cancelled(context& ctx) {
  while (!ctx.cancelled()) co_await ctx.sleep(1e-3);
  times_of_this_thread().push_back(ctx.now());
}

TEST(cancelled, is_seen_by_a_simulated_handler_at_the_next_look_behind_one_message) {
  times_of_this_thread().clear();
  run_simulated({{"ranks", "2"}, {"sim.latency", "10us"}}, [](runtime& rt) {
    if (rt.rank() != rank_id(0)) return;
    const double begin = rt.now();
    auto call = rt.call<notes_when_cancelled>(rank_id(1));
    rt.sleep(50.5e-3).get();
    call.cancel();
    auto limited = rt.call<notes_when_cancelled>(with{.deadline = 2}, rank_id(1));
    EXPECT_THROW(limited.get(), timeout_error);
    auto future = rt.call<notes_when_cancelled>(with{.deadline = 3}, rank_id(0));
    EXPECT_THROW(future.get(), timeout_error);
    rt.wait_quiescence();
    ASSERT_EQ(times_of_this_thread().size(), 3U);
    EXPECT_GE(times_of_this_thread()[0] - begin, 50.5e-3);
    EXPECT_NEAR(times_of_this_thread()[0] - begin, 51e-3, 1e-3);
    EXPECT_NEAR(times_of_this_thread()[1] - begin, 2.0505, 2e-3);
    EXPECT_NEAR(times_of_this_thread()[2] - begin, 5.0505, 4e-3);
  });
}

/// A plain handler under simulation charges its time, which passes its own caller's deadline.
TEST(cancelled, is_seen_by_a_simulated_handler_that_charges_beyond_a_deadline_of_its_own_rank) {
  static std::atomic<int> charged;
  charged = 0;
  run_simulated({{"ranks", "1"}}, [](runtime& rt) {
    auto call = rt.call(with{.deadline = 0.1}, rt.rank(), [](context& ctx) {
      for (; !ctx.cancelled() && charged < 1000; ++charged) ctx.charge(1e-3);
    });
    EXPECT_THROW(call.get(), timeout_error);
  });
  EXPECT_GE(charged, 99);
  EXPECT_LE(charged, 102);
}

constexpr double patience = 60;

/// Computes until its caller has given up.
bool computes(context& ctx) {
  const double begin = ctx.now();
  while (!ctx.cancelled() && ctx.now() - begin < patience) continue;
  return ctx.cancelled();
}

TEST(cancelled, is_seen_on_the_only_worker_of_the_callers_own_rank) {
  config configuration;
  configuration.set("ranks", "1");
  configuration.set("workers", "1");
  static std::atomic<bool> seen;
  seen = false;
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  auto call = rt.call(with{.deadline = 5e-3}, rt.rank(), [](context& ctx) { seen = computes(ctx); });
                  EXPECT_THROW(call.get(), timeout_error);
                }),
            0);
  EXPECT_TRUE(seen);
}

struct part {
  std::uint64_t number = 0;
  bool asks(context& ctx) const { return ctx.cancelled(); }
  void asks_of_all(context& ctx) { number += ctx.cancelled() ? 1 : 0; }
  std::uint64_t told() const { return number; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number);
  }
};
std::atomic<int> colocated{0};
void meets(context& ctx, part&, part&) {
  colocated = 1;
  colocated = computes(ctx) ? 2 : 3;
}

/// The function runs on whichever rank the objects come together; the question goes to the rank that asked for it.
TEST(cancelled, is_seen_by_a_function_on_several_objects) {
  run_on_two_ranks("inproc", [](runtime& rt) {
    const auto parts = rt.create_array<part>(extents{2});
    for (const rank_id caller : {rank_id(0), rank_id(1)}) {
      if (rt.rank() == caller) {
        colocated = 0;
        auto call = rt.colocate_call<meets>(parts[0], parts[1]);
        while (colocated == 0) std::this_thread::yield();  // main's thread runs no function meanwhile
        call.cancel();
        EXPECT_THROW(call.get(), call_error);
      }
      rt.wait_quiescence();
      EXPECT_EQ(colocated, 2);
      rt.barrier();
    }
    rt.destroy(parts);
  });
}

/// A message to all has no single caller: its handlers are not told.
TEST(cancelled, is_false_for_messages_to_all) {
  for (const char* const range : {"inproc", "sim"}) {
    run_on_two_ranks(range, [](runtime& rt) {
      const auto parts = rt.create_array<part>(extents{8});
      const auto group = rt.create_group<part>();
      if (rt.rank() == rank_id(0)) {
        rt.migrate(parts[0], rank_id(1)).get();
        future<void> to_array = rt.call<&part::asks_of_all>(parts), to_group = rt.call<&part::asks_of_all>(group);
        to_array.cancel();
        to_group.cancel();
        EXPECT_FALSE(rt.call<&part::asks>(group[rank_id(1)]).get());
      }
      rt.wait_quiescence();
      if (rt.rank() == rank_id(0)) {
        EXPECT_EQ(rt.reduce<&part::told>(parts, std::plus<>{}).get(), 0U);
        EXPECT_EQ(rt.reduce<&part::told>(group, std::plus<>{}).get(), 0U);
      }
      rt.barrier();
      rt.destroy(group);
      rt.destroy(parts);
    });
  }
}

}  // namespace
}  // namespace nacre::tests
