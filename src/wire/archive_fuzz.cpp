// SPDX-License-Identifier: Apache-2.0
// Packed values with random damage: reading them never crashes, never over-allocates, and never half succeeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/rng.hpp"
#include "wire/allocation_meter.hpp"
#include "wire/archive_test_random.hpp"
#include "wire/archive_test_types.hpp"

namespace nacre {
namespace {

using namespace test;

using bytes_type = std::vector<std::byte>;

/// Overwrites four bytes with a length that somebody may have liked to forge.
void forge_length(bytes_type& bytes, rng& numbers) {
  constexpr std::array<std::uint32_t, 8> liked{0, 1, 0xff, 0xffff, 0x7fff'ffff, 0x8000'0000, 0xffff'fffe, 0xffff'ffff};
  if (bytes.size() < sizeof(std::uint32_t)) return;
  const std::uint32_t length =
      numbers.below(2) == 0 ? liked[numbers.below(liked.size())] : static_cast<std::uint32_t>(numbers.below(64));
  std::memcpy(bytes.data() + numbers.below(bytes.size() - sizeof length + 1), &length, sizeof length);
}

/// Puts a piece of `other` into `bytes`.
void splice(bytes_type& bytes, const bytes_type& other, rng& numbers) {
  if (other.empty()) return;
  const std::size_t from = numbers.below(other.size());
  const std::size_t count = numbers.below(other.size() - from + 1);
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(numbers.below(bytes.size() + 1));
  const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
  bytes.insert(at, first, first + static_cast<std::ptrdiff_t>(count));
}

void damage(bytes_type& bytes, const bytes_type& other, rng& numbers) {
  switch (numbers.below(6)) {
    case 0:
      if (!bytes.empty()) bytes[numbers.below(bytes.size())] ^= std::byte{1} << static_cast<int>(numbers.below(8));
      break;
    case 1:
      if (!bytes.empty()) bytes[numbers.below(bytes.size())] = static_cast<std::byte>(numbers.next());
      break;
    case 2:
      bytes.resize(numbers.below(bytes.size() + 1));
      break;
    case 3:
      forge_length(bytes, numbers);
      break;
    case 4:
      splice(bytes, other, numbers);
      break;
    default:
      for (std::uint64_t more = numbers.below(16); more > 0; --more) {
        bytes.push_back(static_cast<std::byte>(numbers.next()));
      }
  }
}

/// Tells how many damaged payloads were read without an error, so that a test can see that both ways were taken.
struct tally {
  std::size_t read = 0;
  std::size_t refused = 0;
};

template <class T>
void read_damaged(const bytes_type& bytes, tally& outcomes) {
  const allocation_meter allocations;
  const auto value = unpack<T>(bytes);
  ASSERT_LE(allocations.peak_bytes(), 100 * bytes.size() + 4096) << __PRETTY_FUNCTION__;
  if (!value) {
    ++outcomes.refused;
    return;
  }
  ++outcomes.read;
  // Nothing was skipped and nothing made up: what was read packs to as many bytes again. Only a map may differ, when
  // its keys came out of order, since arrays inside it are aligned.
  const bytes_type again = pack(*value);
  if constexpr (!detail::map_like<T>) {
    ASSERT_EQ(again.size(), bytes.size()) << __PRETTY_FUNCTION__;
  }
  const auto second = unpack<T>(again);
  ASSERT_TRUE(second) << __PRETTY_FUNCTION__;
  ASSERT_EQ(packed_size(*second), again.size()) << __PRETTY_FUNCTION__;
}

TEST(archive_fuzz, damaged_payloads_are_read_whole_or_refused_and_cost_no_more_memory_than_they_are_worth) {
  constexpr int rounds = 1500;
  tally outcomes;
  rng numbers(20);
  bytes_type other;
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    for_each_type(rich_types{}, [&]<class T>() {
      if (HasFatalFailure()) return;
      bytes_type bytes = pack(inventor(numbers.fork(numbers.next())).make<T>());
      const bytes_type whole = bytes;
      for (std::uint64_t times = 1 + numbers.below(3); times > 0; --times) damage(bytes, other, numbers);
      read_damaged<T>(bytes, outcomes);
      other = whole;
    });
  }
  EXPECT_GT(outcomes.read, outcomes.refused / 100);
  EXPECT_GT(outcomes.refused, outcomes.read / 100);
  EXPECT_EQ(outcomes.read + outcomes.refused, rounds * rich_types::count);
}

TEST(archive_fuzz, noise_is_read_whole_or_refused) {
  tally outcomes;
  rng numbers(21);
  for (int round = 0; round < 1500 && !HasFatalFailure(); ++round) {
    for_each_type(rich_types{}, [&]<class T>() {
      if (HasFatalFailure()) return;
      bytes_type bytes(numbers.below(1 + numbers.below(80)));
      // Small numbers make plausible lengths, flags and indices.
      const std::uint64_t variety = std::uint64_t{1} << numbers.below(9);
      std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(numbers.below(variety)); });
      read_damaged<T>(bytes, outcomes);
    });
  }
  EXPECT_GT(outcomes.read, 100u);
  EXPECT_GT(outcomes.refused, 100u);
}

TEST(archive_fuzz, views_into_damaged_payloads_stay_inside_them) {
  using views = std::tuple<std::string_view, std::span<const std::uint64_t>, std::vector<std::string_view>>;
  rng numbers(22);
  std::size_t read = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto text = inventor(numbers.fork(1)).make<std::string>();
    const auto words = inventor(numbers.fork(2)).make<std::vector<std::uint64_t>>();
    bytes_type bytes = pack(text, words, std::vector<std::string_view>{text, "x"});
    if (round % 8 != 0) damage(bytes, bytes_type(bytes), numbers);
    const auto inside = [&bytes](const void* first, std::size_t count) {
      const auto* at = static_cast<const std::byte*>(first);
      return count == 0 || (at >= bytes.data() && at + count <= bytes.data() + bytes.size());
    };
    if (const auto value = unpack<views>(bytes)) {
      ++read;
      ASSERT_TRUE(inside(std::get<0>(*value).data(), std::get<0>(*value).size()));
      ASSERT_TRUE(inside(std::get<1>(*value).data(), std::get<1>(*value).size_bytes()));
      for (const auto view : std::get<2>(*value)) ASSERT_TRUE(inside(view.data(), view.size()));
    }
    numbers.next();
  }
  EXPECT_GT(read, 500u);
}

}  // namespace
}  // namespace nacre
