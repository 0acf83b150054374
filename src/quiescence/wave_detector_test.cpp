// SPDX-License-Identifier: Apache-2.0
// Detectors under seeded storms of messages; the storms also expose a wrong detector.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "quiescence/storm_test_kit.hpp"

namespace nacre::quiescence {
namespace {

#ifdef NACRE_SLOW_ASSERTS
constexpr std::uint64_t thousands = 100;  // sanitizers are ten to fifty times slower
#else
constexpr std::uint64_t thousands = 1000;
#endif

/// A wrong detector, which trusts a single wave: equal sums of one round of snapshots, taken at different moments.
class single_wave_detector final : public detector {
 public:
  single_wave_detector(rank_id self, std::uint32_t size) : self_(self), size_(size) {}

  std::uint64_t request(detector_host& host) override {
    if (self_.value() != 0) {
      host.send(rank_id{0}, {.kind = ask});
    } else {
      start(host);
    }
    return ++issued_;
  }
  bool on_message(detector_host& host, rank_id, const detector_message& m) override {
    if (m.kind == ask) start(host);
    if (m.kind == poll) wanted_ = true;
    if (m.kind == sums) add(host, m.sums);
    if (m.kind == quiet) tell(host);
    return true;
  }
  [[nodiscard]] bool wants_counters() const noexcept override { return wanted_; }
  void on_idle(detector_host& host, const unit_counters& now) override {
    wanted_ = false;
    if (self_.value() == 0) {
      add(host, now);
    } else {
      host.send(rank_id{0}, {.sums = now, .kind = sums});
    }
  }

 private:
  enum : std::uint16_t { ask, poll, sums, quiet };

  void start(detector_host& host) {
    if (missing_ != 0) return;
    missing_ = size_;
    total_ = {};
    wanted_ = true;
    for (std::uint32_t r = 1; r < size_; ++r) host.send(rank_id{r}, {.kind = poll});
  }
  void add(detector_host& host, unit_counters more) {
    total_.created += more.created;
    total_.done += more.done;
    if (--missing_ != 0) return;
    if (total_.created != total_.done) return start(host);
    for (std::uint32_t r = 1; r < size_; ++r) host.send(rank_id{r}, {.kind = quiet});
    tell(host);
  }
  void tell(detector_host& host) {
    if (told_ == issued_) return;
    told_ = issued_;
    host.declare(issued_);
  }

  rank_id self_;
  std::uint32_t size_;
  std::uint32_t missing_ = 0;
  unit_counters total_;
  bool wanted_ = false;
  std::uint64_t issued_ = 0;
  std::uint64_t told_ = 0;
};

TEST(wave_detector, declares_neither_early_nor_late_in_thousands_of_storms) {
  std::uint64_t declarations = 0;
  for (std::uint64_t seed = 1; seed <= 3 * thousands; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(1 + (seed * 7919) % (seed % 4 == 0 ? 40 : 12));
    storm s({.seed = seed, .ranks = ranks}, waves_of_arity(1 + seed % 5));
    s.run();
    ASSERT_EQ(s.error, "") << "seed " << seed << ", " << ranks << " ranks";
    declarations += s.declarations;
  }
  EXPECT_GT(declarations, 10 * thousands);
}

TEST(wave_detector, loses_no_request_of_code_that_is_not_counted) {
  for (std::uint64_t seed = 1; seed <= thousands; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(1 + seed % 30);
    storm s({.seed = seed, .ranks = ranks, .requests = seed % 2 == 0, .outsiders = true}, waves_of_arity(1 + seed % 4));
    s.run();
    ASSERT_EQ(s.error, "") << "seed " << seed;
  }
}

TEST(wave_detector, refuses_messages_that_nobody_may_send_and_goes_on_unharmed) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    storm s({.seed = seed, .ranks = static_cast<std::uint32_t>(1 + seed % 20), .forgeries = true}, waves_of_arity(4));
    s.run();
    ASSERT_EQ(s.error, "") << "seed " << seed;
  }
}

TEST(wave_detector, sends_nothing_while_nobody_asks) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    storm s({.seed = seed, .ranks = 12, .requests = false}, waves_of_arity(4));
    s.run();
    ASSERT_EQ(s.error, "");
    EXPECT_EQ(s.detector_messages, 0u);
  }
}

std::string first_error(std::uint64_t seeds, std::uint32_t ranks, counter_order order, const detector_factory& make) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    storm s({.seed = seed, .ranks = ranks, .order = order}, make);
    s.run();
    if (!s.error.empty()) return s.error;
  }
  return "";
}

TEST(wave_detector_canary, a_detector_that_trusts_one_wave_is_caught) {
  const auto make = [](rank_id self, std::uint32_t size) { return std::make_unique<single_wave_detector>(self, size); };
  EXPECT_EQ(first_error(3000, 8, counter_order::done_first, make), "declared before the system was quiet");
}

TEST(wave_detector_canary, a_host_that_reads_created_before_done_is_caught) {
  EXPECT_EQ(first_error(500, 1, counter_order::created_first, waves_of_arity(4)),
            "declared before the system was quiet");
}

}  // namespace
}  // namespace nacre::quiescence
