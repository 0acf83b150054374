// SPDX-License-Identifier: Apache-2.0
// The sketch of an object's partners against exact counts.
#include "mobile/entry/traffic_sketch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "mobile/entry/object_entry.hpp"

namespace nacre {
namespace {

struct amount {
  double messages = 0, bytes = 0;
};

/// Exact counts.
struct exact {
  std::map<object_id, amount> amounts;
  double all = 0;
  std::uint32_t epoch = 0;

  void advance(std::uint32_t target) {
    for (; epoch != target; ++epoch) {
      all /= 2;
      for (auto& [id, each] : amounts) each = {each.messages / 2, each.bytes / 2};
    }
  }
  void note(object_id object, double bytes) {
    all += 1;
    amounts[object].messages += 1;
    amounts[object].bytes += bytes;
  }
};

object_id partner(std::uint64_t number) { return {rank_id(static_cast<std::uint32_t>(number % 3)), number + 1}; }

constexpr double forgotten = 1.0 / 32;  // the bound in the header

void expect_near(const traffic_sketch& got, const exact& want, std::uint64_t seed) {
  const auto partners = got.partners();
  ASSERT_TRUE(got.sound()) << "seed " << seed;
  ASSERT_LE(partners.size(), traffic_sketch::partners_max);
  std::map<object_id, amount> told;
  for (std::size_t index = 0; index < partners.size(); ++index) {
    ASSERT_TRUE(index == 0 || partners[index - 1].object < partners[index].object) << "seed " << seed;
    told[partners[index].object] = {partners[index].messages, partners[index].bytes};
    const auto known = want.amounts.find(partners[index].object);
    ASSERT_NE(known, want.amounts.end()) << "seed " << seed;
    ASSERT_LE(partners[index].messages, known->second.messages * (1 + 1e-9)) << "seed " << seed;
    ASSERT_LE(partners[index].bytes, known->second.bytes * (1 + 1e-9)) << "seed " << seed;
  }
  for (const auto& [id, each] : want.amounts) {
    ASSERT_GE(told[id].messages, each.messages - want.all / (traffic_sketch::partners_max + 1) - forgotten)
        << "seed " << seed;
  }
}

TEST(traffic_sketch, is_near_the_exact_counts_of_any_stream) {
  for (std::uint64_t seed = 1; seed <= (tests::sanitized ? 100 : 1000); ++seed) {
    rng random(seed);
    const std::uint64_t partners = 1 + random.below(40);
    const bool skewed = random.below(2) == 0;
    traffic_sketch got;
    exact want;
    for (int n = 0; n < 400; ++n) {
      if (random.below(50) == 0) want.advance(want.epoch + static_cast<std::uint32_t>(1 + random.below(3)));
      const std::uint64_t drawn = random.below(partners);
      const object_id object = partner(skewed ? random.below(drawn + 1) : drawn);
      const double bytes = 40 + static_cast<double>(random.below(1000));
      want.note(object, bytes);
      got.note(object, bytes, want.epoch);
      if (n % 20 == 0) expect_near(got, want, seed);
    }
    expect_near(got, want, seed);
    want.advance(want.epoch + 4);
    got.advance(want.epoch);
    expect_near(got, want, seed);
  }
}

TEST(traffic_sketch, is_exact_while_there_are_few_partners) {
  traffic_sketch got;
  for (std::uint64_t n = 0; n < 80; ++n) got.note(partner(n % traffic_sketch::partners_max), 100, 5);
  ASSERT_EQ(got.partners().size(), traffic_sketch::partners_max);
  for (const traffic_partner& each : got.partners()) {
    EXPECT_EQ(each.messages, 10);
    EXPECT_EQ(each.bytes, 1000);
  }
  got.advance(6);
  for (const traffic_partner& each : got.partners()) {
    EXPECT_EQ(each.messages, 5);
    EXPECT_EQ(each.bytes, 500);
  }
}

TEST(traffic_sketch, keeps_who_has_more_than_a_ninth_and_follows_a_change) {
  traffic_sketch got;
  for (std::uint64_t n = 0; n < 3000; ++n) got.note(n % 3 == 0 ? partner(0) : partner(1 + n), 1, 0);
  const auto messages_to = [&](object_id object) {
    double found_value = 0;
    for (const traffic_partner& each : got.partners()) found_value += each.object == object ? each.messages : 0;
    return found_value;
  };
  EXPECT_GE(messages_to(partner(0)), 1000 - 3000.0 / 9);
  for (std::uint32_t epoch = 1; epoch <= 20; ++epoch) got.note(partner(7), 1, epoch);
  EXPECT_EQ(messages_to(partner(0)), 0) << "a million times halved";
  EXPECT_NEAR(messages_to(partner(7)), 2, 1e-3);
}

TEST(traffic_sketch, epochs_wrap_around_and_older_ones_count_as_the_present) {
  traffic_sketch got;
  got.note(partner(1), 8, ~std::uint32_t{0});
  got.advance(0);
  ASSERT_EQ(got.partners().size(), 1u);
  EXPECT_EQ(got.partners()[0].messages, 0.5);
  got.advance(~std::uint32_t{0});
  got.note(partner(1), 8, ~std::uint32_t{0});
  EXPECT_EQ(got.partners()[0].messages, 1.5);
  got.advance(1000);
  EXPECT_TRUE(got.empty());
}

TEST(traffic_sketch, travels_and_what_cannot_be_one_is_refused) {
  traffic_sketch got;
  for (std::uint64_t n = 0; n < 5; ++n) got.note(partner(n), 100, 9);
  const std::vector<std::byte> bytes = pack(got);
  const auto back = unpack<traffic_sketch>(bytes);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->sound());
  EXPECT_EQ(pack(*back), bytes);
  rng random(3);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> damaged = bytes;
    for (std::uint64_t hits = 1 + random.below(3); hits != 0; --hits) {
      damaged[random.below(damaged.size())] = static_cast<std::byte>(random.next());
    }
    auto one = unpack<traffic_sketch>(damaged);
    if (!one || !one->sound()) {
      ++refused;
      continue;
    }
    for (std::uint64_t n = 0; n < 20; ++n) one->note(partner(random.below(30)), 50, static_cast<std::uint32_t>(n / 4));
    ASSERT_TRUE(one->empty() || one->sound());
    for (const traffic_partner& each : one->partners()) ASSERT_TRUE(std::isfinite(each.messages + each.bytes));
  }
  EXPECT_GT(refused, 1000);
}

TEST(traffic_sketch, handlers_that_run_beside_each_other_lose_no_count) {
  constexpr int writers = 3, each_writes = 4000;
  for (int round = 0; round < 10; ++round) {
    object_entry_extra extra(nullptr);
    std::vector<std::thread> threads;
    for (int n = 0; n < writers; ++n) {
      threads.emplace_back([&extra, n] {
        for (int m = 0; m < each_writes; ++m) {
          shared_traffic& counted = extra.need_traffic();
          const std::scoped_lock lock(counted.guard);
          counted.sketch.note(partner(static_cast<std::uint64_t>(n)), 1, 0);
        }
      });
    }
    for (std::thread& each : threads) each.join();
    const auto partners = extra.need_traffic().sketch.partners();
    ASSERT_EQ(partners.size(), std::size_t{writers});
    for (const traffic_partner& each : partners) EXPECT_EQ(each.messages, each_writes);
  }
}

}  // namespace
}  // namespace nacre
