// SPDX-License-Identifier: Apache-2.0
// A main that sends more to arrays and sections than their elements can run waits, a long argument is not copied for
// all elements at once, and many insertions may wait at one place.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace nacre::tests {
namespace {

/// Computes for a while without the runtime.
void compute(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

config inproc_job(const char* ranks) {
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", ranks);
  configuration.set("workers", "1");
  return configuration;
}

std::atomic<std::int64_t> steps{0};
std::atomic<bool> gate{false};

/// An element that takes its time.
struct slow_cell {
  std::int64_t opened = 0;
  void step(std::int64_t) {
    compute(std::chrono::microseconds(20));
    ++steps;
  }
  awaited<> open(std::int64_t) { return {}; }
  /// Waits for a message that main sends behind many others.
  task<void> wait(context& ctx) {
    co_await ctx.next<&slow_cell::open>(1);
    ++opened;
  }
  /// Keeps the place until main opens the gate.
  task<void> hold(context& ctx) {
    while (!gate) co_await ctx.sleep(1e-3);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(opened);
  }
};

enum class target : std::uint8_t { array, section };
struct flood {
  const char* name;
  const char* ranks;
  target to;
};

class array_flood : public testing::TestWithParam<flood> {};

/// The last main floods 8 elements. The window is 2 MiB or less, and a message needs more than 1 KiB.
TEST_P(array_flood, makes_main_wait_for_the_elements) {
  constexpr std::int64_t cells = 8, sent = 12000, ahead_max = 6000;
  steps = 0;
  std::int64_t ahead = 0;
  EXPECT_EQ(run(inproc_job(GetParam().ranks),
                [&](runtime& rt) {
                  const auto grid = rt.create_array<slow_cell>(extents{cells});
                  const section all(grid, [](const index&) { return true; });
                  if (rt.rank().value() == rt.size() - 1) {
                    for (std::int64_t n = 1; n <= sent; ++n) {
                      if (GetParam().to == target::array) rt.send<&slow_cell::step>(grid, n);
                      if (GetParam().to == target::section) rt.send<&slow_cell::step>(all, n);
                      ahead = std::max(ahead, n - steps / cells);
                    }
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(steps, cells * sent) << "each element runs each message once";
  EXPECT_LT(ahead, ahead_max) << "messages that main was ahead of the elements";
}

/// Main is let go when nothing else could happen: its window holds nobody up for ever.
TEST_P(array_flood, ends_though_elements_wait_for_a_later_message_of_main) {
  constexpr std::int64_t cells = 8, sent = 4000;
  steps = 0;
  EXPECT_EQ(run(inproc_job(GetParam().ranks),
                [&](runtime& rt) {
                  const auto grid = rt.create_array<slow_cell>(extents{cells});
                  const section all(grid, [](const index&) { return true; });
                  if (rt.rank().value() == rt.size() - 1) {
                    rt.send<&slow_cell::wait>(grid);
                    for (std::int64_t n = 1; n <= sent; ++n) {
                      if (GetParam().to == target::array) rt.send<&slow_cell::step>(grid, n);
                      if (GetParam().to == target::section) rt.send<&slow_cell::step>(all, n);
                    }
                    rt.send<&slow_cell::open>(grid, 1);
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(steps, cells * sent);
}

INSTANTIATE_TEST_SUITE_P(of_main, array_flood,
                         testing::Values(flood{"array_of_one_rank", "1", target::array},
                                         flood{"array_of_three_ranks", "3", target::array},
                                         flood{"section_of_one_rank", "1", target::section},
                                         flood{"section_of_three_ranks", "3", target::section}),
                         [](const auto& each) { return std::string(each.param.name); });

/// Arrays end while receipts for what was sent to them are under way, and a message asks for one behind the end.
TEST(array_floods, arrays_may_end_meanwhile) {
  EXPECT_EQ(run(inproc_job("3"),
                [&](runtime& rt) {
                  for (int round = 0; round < 20; ++round) {
                    const auto grid = rt.create_array<slow_cell>(extents{8});
                    const section all(grid, [](const index&) { return true; });
                    rt.on_delivery_error([](const delivery_error&) {});
                    for (std::int64_t n = 0; n < 300 + 100 * rt.rank().value(); ++n) {
                      rt.send<&slow_cell::open>(grid, n);
                      rt.send<&slow_cell::open>(all, n);
                    }
                    rt.destroy(grid);
                    for (std::int64_t n = 0; n < 50; ++n) rt.send<&slow_cell::open>(all, n);
                  }
                  rt.wait_quiescence();
                }),
            0);
}

std::int64_t resident_mib() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6)) / 1024;
  }
  return 0;
}

std::atomic<std::int64_t> peak_mib{0};

/// An element that needs more time for its argument than a part spends on handlers that are short.
struct learner {
  double sum = 0;
  void learn(const std::vector<double>& weights) {
    compute(std::chrono::microseconds(30));
    sum += weights.back();
    for (std::int64_t seen = peak_mib, now = resident_mib(); now > seen;) {
      if (peak_mib.compare_exchange_weak(seen, now)) break;
    }
  }
  double result() const { return sum; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum);
  }
};

TEST(array_floods, a_long_argument_is_not_copied_for_all_elements_at_once) {
  constexpr int cells = 2048;
  const std::vector<double> weights(32 * 1024, 1.0);  // 256 KiB, 512 MiB for all
  for (const target to : {target::array, target::section}) {
    EXPECT_EQ(run(inproc_job("1"),
                  [&](runtime& rt) {
                    const auto grid = rt.create_array<learner>(extents{cells});
                    const section all(grid, [](const index&) { return true; });
                    const std::int64_t previous = resident_mib();
                    peak_mib = previous;
                    if (to == target::array) rt.call<&learner::learn>(grid, weights).get();
                    if (to == target::section) rt.call<&learner::learn>(all, weights).get();
                    EXPECT_EQ(rt.reduce<&learner::result>(grid, std::plus<>{}).get(), cells);
                    EXPECT_LT(peak_mib - previous, sanitized ? 4096 : 48);
                  }),
              0);
  }
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(array_floods, insertions_that_wait_at_a_place_take_a_time_each) {
  constexpr int pairs = sanitized ? 2000 : 20000;
  EXPECT_EQ(run(inproc_job("1"),
                [&](runtime& rt) {
                  const auto grid = rt.create_array<slow_cell>(extents{4}, sparse);
                  rt.insert(grid, 0).get();
                  gate = false;
                  rt.send<&slow_cell::hold>(grid[0]);
                  for (int each = 0; each < pairs; ++each) {
                    static_cast<void>(rt.erase(grid, 0));
                    static_cast<void>(rt.insert(grid, 0));
                  }
                  const double begin = cpu_seconds();
                  gate = true;
                  rt.erase(grid, 0).get();
                  EXPECT_LT(cpu_seconds() - begin,
                            5.0);  // a tenth of a second, against 20 with a look at all each time
                }),
            0);
}

}  // namespace
}  // namespace nacre::tests
