// SPDX-License-Identifier: Apache-2.0
// Time in programs: virtual time is exact, and whatever waits for time is neither stuck nor quiet.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

struct seen_times {
  std::vector<double> times;
};
seen_times& times_of_this_thread() {
  thread_local seen_times times;
  return times;
}

void note_time(context& ctx) { times_of_this_thread().times.push_back(ctx.now()); }

task<double> naps(context& ctx, int count, double seconds) {
  for (int nap = 0; nap < count; ++nap) co_await ctx.sleep(seconds);
  co_return ctx.now();
}

TEST(simulated_time, sleeps_take_virtual_time_and_no_other) {
  run_simulated({{"ranks", "2"}}, [](runtime& rt) {
    const double begin = rt.now();
    rt.sleep(3600).wait();
    EXPECT_NEAR(rt.now() - begin, 3600, 1e-3);
    if (rt.rank() != rank_id(0)) return;
    EXPECT_NEAR(rt.call<naps>(rank_id(1), 1000, 1.0).get() - begin, 3600 + 1000, 1e-2);
    future<double> slow = rt.call<naps>(rank_id(1), 1, 1e5);
    EXPECT_FALSE(slow.wait_for(60));
    EXPECT_NEAR(rt.now() - begin, 4660, 1e-1);
  });
}

TEST(simulated_time, messages_that_are_sent_later_come_in_the_order_of_their_times) {
  times_of_this_thread().times.clear();
  run_simulated({{"ranks", "1"}}, [](runtime& rt) {
    for (const double seconds : {5.0, 1.0, 3.0, 3.0}) rt.after<note_time>(seconds);
  });
  const auto& values = times_of_this_thread().times;
  ASSERT_EQ(values.size(), 4U) << "the job ends when they have run";
  const std::vector<double> expected{1, 3, 3, 5};
  for (std::size_t index = 0; index < 4; ++index) EXPECT_NEAR(values[index], expected[index], 1e-3);
}

TEST(simulated_time, a_deadline_comes_though_nothing_else_would_ever_happen) {
  const auto job = [] {
    run_simulated({{"ranks", "2"}}, [](runtime& rt) {
      if (rt.rank() != rank_id(1)) return;
      const double begin = rt.now();
      auto never = rt.call<&hermit::wait>(with{.deadline = 7}, rt.create<hermit>());
      try {
        never.get();
      } catch (const timeout_error& error) {
        std::fprintf(stderr, "%s, after %.3f s\n", error.what(), rt.now() - begin);
      }
    });
  };
  EXPECT_EXIT(job(), testing::ExitedWithCode(1),
              "no result within 7 s, the deadline of the call, after 7.000 s(.|\n)*deadlock: nothing can happen");
}

TEST(simulated_time, main_that_polls_the_clock_lets_timers_come) {
  times_of_this_thread().times.clear();
  run_simulated({{"ranks", "1"}}, [](runtime& rt) {
    rt.after<note_time>(1e-4);
    while (rt.now() < 2e-4) continue;
    EXPECT_EQ(times_of_this_thread().times.size(), 1U);
  });
}

constexpr double endless = std::numeric_limits<double>::infinity(),
                 no_number = std::numeric_limits<double>::quiet_NaN();

TEST(simulated_time, that_is_negative_is_over_and_that_is_none_is_refused) {
  times_of_this_thread().times.clear();
  run_simulated({{"ranks", "1"}}, [](runtime& rt) {
    for (const double seconds : {-1.0, -1e300, -endless}) {
      const double begin = rt.now();
      rt.sleep(seconds).wait();
      EXPECT_FALSE(rt.sleep(60).wait_for(seconds));
      EXPECT_FALSE(rt.sleep(60).wait_until(seconds));
      rt.after<note_time>(seconds);
      EXPECT_THROW(rt.call<naps>(with{.deadline = seconds}, rt.rank(), 1, 60.0).get(), timeout_error);
      EXPECT_NEAR(rt.now(), begin, 1e-3) << seconds;
    }
    rt.wait_quiescence();
    EXPECT_EQ(times_of_this_thread().times.size(), 3U);
    EXPECT_THROW(static_cast<void>(rt.sleep(no_number)), usage_error);
    EXPECT_THROW(static_cast<void>(rt.sleep(60).wait_for(no_number)), usage_error);
    EXPECT_THROW(static_cast<void>(rt.sleep(60).wait_until(no_number)), usage_error);
    EXPECT_THROW(rt.after<note_time>(no_number), usage_error);
    EXPECT_THROW(static_cast<void>(rt.call<naps>(with{.deadline = no_number}, rt.rank(), 1, 1.0)), usage_error);
  });
}

TEST(simulated_time, that_the_clock_cannot_tell_never_comes) {
  run_simulated({{"ranks", "1"}}, [](runtime& rt) {
    for (const double seconds : {1e10, 1e300, endless}) {
      future<void> sleeps = rt.sleep(seconds);
      EXPECT_FALSE(sleeps.wait_for(1e6));
      sleeps.cancel();
      EXPECT_THROW(sleeps.get(), call_error);
      EXPECT_TRUE(rt.sleep(1).wait_for(seconds));
      EXPECT_TRUE(rt.sleep(1).wait_until(seconds));
      EXPECT_GT(rt.call<naps>(with{.deadline = seconds}, rt.rank(), 1, 1e6).get(), 1e6);
      try {
        rt.after<note_time>(seconds);
        ADD_FAILURE() << seconds;
      } catch (const usage_error& error) {
        EXPECT_LT(std::string(error.what()).size(), 150U) << error.what();
      }
    }
  });
  EXPECT_EXIT(run_simulated({{"ranks", "1"}}, [](runtime& rt) { rt.sleep(endless).wait(); }),
              testing::ExitedWithCode(1), "deadlock: nothing can happen any more");
}

/// Its packing throws.
struct unwilling {
  template <class Archive>
  void serialize(Archive&) {
    throw std::runtime_error("will not be packed");
  }
};
struct receiver {
  void take(const std::vector<unwilling>&) {}
  template <class Archive>
  void serialize(Archive&) {}
};

/// When it is due, the caller is gone.
TEST(time, that_which_cannot_be_sent_later_to_an_object_is_an_error_at_the_caller) {
  for (const char* transport : {"inproc", "sim"}) {
    config configuration;
    configuration.set("transport", transport);
    configuration.set("ranks", "1");
    configuration.set("check_serialization", "true");  // packs what stays in the process, too
    EXPECT_EQ(run(configuration,
                  [](runtime& rt) {
                    const auto object = rt.create<receiver>();
                    EXPECT_THROW(rt.after<&receiver::take>(1e-3, object, std::vector<unwilling>(3)),
                                 std::runtime_error);
                    rt.wait_quiescence();
                  }),
              0);
  }
}

TEST(simulated_time, one_seed_is_one_run) {
  const auto run_once = [](const char* seed) {
    times_of_this_thread().times.clear();
    run_simulated({{"ranks", "3"}, {"workers", "2"}, {"seed", seed}}, [](runtime& rt) {
      std::vector<future<double>> all;
      for (int index = 0; index < 50; ++index) all.push_back(rt.call<naps>(rank_id(index % 3), index % 7, 1e-5));
      for (int index = 0; index < 50; ++index) rt.after<note_time>(1e-6 * (index % 9));
      while (!all.empty()) {
        const auto number = when_any(all).get();
        times_of_this_thread().times.push_back(all[number].get());
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(number));
      }
    });
    return times_of_this_thread().times;
  };
  const auto first = run_once("5");
  EXPECT_EQ(first.size(), 300U);
  EXPECT_EQ(first, run_once("5"));
}

constexpr int many = sanitized ? 20'000 : 500'000;
std::atomic<int> ended{0};
void end_one(int) { ++ended; }

struct resting {
  task<void> rest(context& ctx, double seconds) { co_await ctx.sleep(seconds); }
  void count_up() { ++ended; }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(time, a_million_sleeps_and_timers_end) {
  ended = 0;
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "1");
  configuration.set("workers", "2");
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  for (int index = 0; index < many; ++index) {
                    rt.after<end_one>(1e-3 + 1e-7 * (index % 1000), index);
                    rt.send<naps>(rt.rank(), 1, 1e-3 + 1e-7 * (index % 1000));
                  }
                  rt.wait_quiescence();
                  EXPECT_EQ(ended, many);
                }),
            0);
}

TEST(time, a_cancelled_call_that_waits_for_its_object_does_not_run) {
  ended = 0;
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "1");
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  const auto busy = rt.create<resting>();
                  future<void> rests = rt.call<&resting::rest>(busy, 0.3);
                  future<void> waits = rt.call<&resting::count_up>(busy);
                  future<void> coroutine = rt.call<&resting::rest>(busy, 1000.0);
                  EXPECT_FALSE(waits.wait_for(1e-3));
                  waits.cancel();
                  coroutine.cancel();
                  EXPECT_THROW(waits.get(), call_error);
                  rests.get();
                  rt.call<&resting::count_up>(busy).get();
                  rt.wait_quiescence();
                  EXPECT_EQ(ended, 1);
                }),
            0);
}

/// Only a call that is cancelled does not run.
TEST(simulated_time, a_call_whose_deadline_is_over_runs_when_its_object_is_free) {
  ended = 0;
  run_simulated({{"ranks", "1"}}, [](runtime& rt) {
    const auto busy = rt.create<resting>();
    future<void> rests = rt.call<&resting::rest>(busy, 0.02);
    EXPECT_THROW(rt.call<&resting::count_up>(with{.deadline = 1e-3}, busy).get(), timeout_error);
    EXPECT_EQ(ended, 0);
    rests.get();
    rt.wait_quiescence();
    EXPECT_EQ(ended, 1);
  });
}

TEST(time, a_job_that_sleeps_does_not_stand_still) {
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "2");
  configuration.set("deadlock_patience", "50ms");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  if (rt.rank() != rank_id(0)) return;
                  rt.call<naps>(rank_id(1), 1, 0.4).get();
                  rt.sleep(0.2).wait();
                }),
            0);
  // A handler that loses its processor for so long is told as one that has not returned.
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("nothing has happened"), std::string::npos) << "but something was going to: " << said;
}

TEST(time, a_rank_that_only_sleeps_takes_no_processor_time) {
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "2");
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  rt.barrier();
                  const double begin = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
                  rt.sleep(0.3).wait();
                  EXPECT_LT(static_cast<double>(std::clock()) / CLOCKS_PER_SEC - begin, 0.15);
                }),
            0);
}

}  // namespace
}  // namespace nacre::tests
