// SPDX-License-Identifier: Apache-2.0
// Seeds: whatever a path does to datagrams, all messages arrive once and in order, and all are acknowledged.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include "base/sanitized.hpp"
#include "transport/udp/lossy_path_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

constexpr std::uint64_t seeds = tests::sanitized ? 30 : 500;
constexpr std::chrono::minutes longest{10};

struct named_faults {
  const char* name;
  path_faults faults;
};

void PrintTo(const named_faults& named_faults, std::ostream* out) { *out << named_faults.name; }

class paths : public ::testing::TestWithParam<named_faults> {};

INSTANTIATE_TEST_SUITE_P(
    of, paths,
    ::testing::Values(named_faults{"no_faults", {}}, named_faults{"one_percent_lost", {.lost = 1}},
                      named_faults{"ten_percent_lost", {.lost = 10}}, named_faults{"thirty_percent_lost", {.lost = 30}},
                      named_faults{"many_doubled_and_replayed", {.doubled = 30, .replayed_later = 20}},
                      named_faults{"many_harmed", {.harmed = 20}}, named_faults{"many_late", {.late = 20}},
                      named_faults{"bursts", {.burst = 2}}, named_faults{"everything", {10, 10, 5, 10, 1, 5}}),
    [](const auto& each) { return std::string(each.param.name); });

/// Both sides send messages of mixed sizes on mixed channels, now and then, while the path does what it does.
void exchange(two_ends& ends) {
  rng& random = ends.random();
  for (std::uint64_t rounds = 1 + random.below(8); rounds > 0; --rounds) {
    for (std::uint64_t messages = random.below(30); messages > 0; --messages) {
      const std::uint64_t kind = random.below(20);
      const std::uint64_t most = kind == 0 ? 300'000 : kind < 4 ? 5'000 : 100;
      ends.send(random.below(2), static_cast<channel>(random.below(channel_count)),
                static_cast<std::uint32_t>(random.below(most)));
    }
    ends.run(std::chrono::microseconds(random.below(2000)));
  }
  ends.run(longest);
}

connection_limits random_limits(rng& random) {
  const std::uint32_t datagrams[]{1232, 1472, 8972, 65'507};
  const std::uint32_t buffers[]{200'000, 400'000, 4u << 20};
  const std::uint64_t firsts[]{0, (std::uint64_t{1} << 32) - 20, ~std::uint64_t{0} - (1u << 30)};
  return {.frames = {},
          .datagram_bytes = datagrams[random.below(4)],
          .peer_buffer_bytes = buffers[random.below(3)],
          .first_number = firsts[random.below(3)]};
}

TEST_P(paths, deliver_everything_once_and_in_order_with_every_seed) {
  std::size_t taken = 0, refused = 0, replayed = 0, gathered = 0, landed = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    rng random(seed);
    const tag_method method = seed % 2 == 0 || !has_aes() ? tag_method::siphash : tag_method::aes;
    two_ends ends(seed, GetParam().faults, random_limits(random), method);
    exchange(ends);
    ASSERT_TRUE(ends.over()) << "seed " << seed << " has not come to an end";
    ASSERT_EQ(ends.arrivals(arrival::failed), 0U) << "seed " << seed;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    taken += ends.arrivals(arrival::taken);
    refused += ends.arrivals(arrival::no_datagram);
    replayed += ends.arrivals(arrival::replayed);
    gathered += ends.gathered();
    landed += ends.landed();
  }
  EXPECT_GT(taken, seeds) << "the test must send something";
  const bool pieces = has_aes() && key_of(1, tag_method::aes).takes_pieces();
  EXPECT_EQ(gathered > 0, pieces) << "long messages leave from where they lie, if the keys can sign that";
  EXPECT_EQ(landed > 0, pieces) << "and come to where they belong";
  EXPECT_EQ(refused > 0, GetParam().faults.harmed > 0);
  EXPECT_EQ(replayed > 0, GetParam().faults.doubled + GetParam().faults.replayed_later > 0);
}

}  // namespace
}  // namespace nacre::transport::udp
