// SPDX-License-Identifier: Apache-2.0
// The promises of the clocks, each as a sentence.
#include "base/clock.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace nacre {
namespace {

using std::chrono::nanoseconds;

nanoseconds system_now() {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

/// Returns how far `source` is ahead of the system's clock, from a reading that nothing interrupted.
double lead_ns(clock& source) {
  for (;;) {
    const nanoseconds previous = source.now();
    const nanoseconds system = system_now();
    const nanoseconds later = source.now();
    if (later - previous < std::chrono::microseconds(20)) {
      return static_cast<double>((previous + (later - previous) / 2 - system).count());
    }
  }
}

TEST(steady_clock_source, never_goes_backwards) {
  steady_clock_source source;
  nanoseconds last = source.now();
  for (int i = 0; i < 100000; ++i) {
    const nanoseconds now = source.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(steady_clock_source, starts_with_the_system_clock_and_runs_as_fast) {
  steady_clock_source source;
  const double lead_before = lead_ns(source);
  EXPECT_LT(std::abs(lead_before), 50e3);
  const nanoseconds start = system_now();
  while (system_now() - start < std::chrono::milliseconds(50)) {
  }
  EXPECT_LT(std::abs(lead_ns(source) - lead_before), 50e6 * 1e-3);
}

TEST(ticks, advance_at_the_stated_rate) {
  const nanoseconds start = system_now();
  const std::uint64_t previous = ticks();
  while (system_now() - start < std::chrono::milliseconds(20)) {
  }
  const double passed = static_cast<double>(ticks() - previous);
  const double seconds = std::chrono::duration<double>(system_now() - start).count();
  EXPECT_NEAR(passed / ticks_per_second(), seconds, 0.1 * seconds);
}

TEST(manual_clock, stands_still_until_it_is_advanced) {
  manual_clock source(nanoseconds(5));
  EXPECT_EQ(source.now(), nanoseconds(5));
  EXPECT_EQ(source.now(), nanoseconds(5));
  source.advance(nanoseconds(3));
  EXPECT_EQ(source.now(), nanoseconds(8));
}

}  // namespace
}  // namespace nacre
