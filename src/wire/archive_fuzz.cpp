// SPDX-License-Identifier: Apache-2.0
// Packed values with random damage: reading them never crashes, never over-allocates, and never half succeeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/rng.hpp>

#include "wire/allocation_meter.hpp"
#include "wire/archive_cases.hpp"

namespace nacre {
namespace {

using namespace test;

/// Overwrites four bytes with a length that a forger might choose.
void forge_length(bytes& payload, rng& numbers) {
  constexpr std::array<std::uint32_t, 8> liked{0, 1, 0xff, 0xffff, 0x7fff'ffff, 0x8000'0000, 0xffff'fffe, 0xffff'ffff};
  if (payload.size() < sizeof(std::uint32_t)) return;
  const std::uint32_t length =
      numbers.below(2) == 0 ? liked[numbers.below(liked.size())] : static_cast<std::uint32_t>(numbers.below(64));
  std::memcpy(payload.data() + numbers.below(payload.size() - sizeof length + 1), &length, sizeof length);
}

/// Puts a piece of `other` into `payload`.
void splice(bytes& payload, const bytes& other, rng& numbers) {
  if (other.empty()) return;
  const std::size_t source = numbers.below(other.size());
  const std::size_t count = numbers.below(other.size() - source + 1);
  const auto position = payload.begin() + static_cast<std::ptrdiff_t>(numbers.below(payload.size() + 1));
  const auto first = other.begin() + static_cast<std::ptrdiff_t>(source);
  payload.insert(position, first, first + static_cast<std::ptrdiff_t>(count));
}

void damage(bytes& payload, const bytes& other, rng& numbers) {
  switch (numbers.below(6)) {
    case 0:
      if (!payload.empty())
        payload[numbers.below(payload.size())] ^= std::byte{1} << static_cast<int>(numbers.below(8));
      break;
    case 1:
      if (!payload.empty()) payload[numbers.below(payload.size())] = static_cast<std::byte>(numbers.next());
      break;
    case 2:
      payload.resize(numbers.below(payload.size() + 1));
      break;
    case 3:
      forge_length(payload, numbers);
      break;
    case 4:
      splice(payload, other, numbers);
      break;
    default:
      for (std::uint64_t more = numbers.below(16); more > 0; --more) {
        payload.push_back(static_cast<std::byte>(numbers.next()));
      }
  }
}

/// Counts the damaged payloads that were read and those that were refused, so that a test can see that both occur.
struct outcome_counts {
  std::size_t read = 0;
  std::size_t refused = 0;
};

void read_damaged(const type_case& type, const bytes& payload, outcome_counts& outcomes) {
  const allocation_meter allocations;
  const reading first = type.read(payload);
  ASSERT_LE(allocations.peak_bytes(), 100 * payload.size() + 4096) << type.name;
  if (first.error != wire_error::none) {
    ++outcomes.refused;
    return;
  }
  ++outcomes.read;
  // The reader skipped nothing and made nothing up: the value that it read packs to as many bytes again. Only a map may
  // differ, if its keys came out of order, because arrays inside it are aligned.
  if (!type.keyed) {
    ASSERT_EQ(first.again.size(), payload.size()) << type.name;
  }
  const reading second = type.read(first.again);
  ASSERT_EQ(second.error, wire_error::none) << type.name;
  ASSERT_EQ(second.again.size(), first.again.size()) << type.name;
}

TEST(archive_fuzz, damaged_payloads_are_read_whole_or_refused_and_cost_no_more_memory_than_they_are_worth) {
  constexpr std::size_t rounds = 1500;
  outcome_counts outcomes;
  rng numbers(20);
  bytes other;
  for (std::size_t round = 0; round < rounds && !HasFatalFailure(); ++round) {
    for (const type_case& type : rich_cases()) {
      bytes payload = type.pack_random(numbers.fork(numbers.next()));
      const bytes whole = payload;
      for (std::uint64_t times = 1 + numbers.below(3); times > 0; --times) damage(payload, other, numbers);
      read_damaged(type, payload, outcomes);
      other = whole;
    }
  }
  EXPECT_GT(outcomes.read, outcomes.refused / 100);
  EXPECT_GT(outcomes.refused, outcomes.read / 100);
  EXPECT_EQ(outcomes.read + outcomes.refused, rounds * rich_cases().size());
}

TEST(archive_fuzz, noise_is_read_whole_or_refused) {
  outcome_counts outcomes;
  rng numbers(21);
  for (int round = 0; round < 1500 && !HasFatalFailure(); ++round) {
    for (const type_case& type : rich_cases()) {
      bytes payload(numbers.below(1 + numbers.below(80)));
      // Small numbers make plausible lengths, flags and indices.
      const std::uint64_t variety = std::uint64_t{1} << numbers.below(9);
      std::generate(payload.begin(), payload.end(), [&] { return static_cast<std::byte>(numbers.below(variety)); });
      read_damaged(type, payload, outcomes);
    }
  }
  EXPECT_GT(outcomes.read, 100u);
  EXPECT_GT(outcomes.refused, 100u);
}

TEST(archive_fuzz, views_into_damaged_payloads_stay_inside_them) {
  using views = std::tuple<std::string_view, std::span<const std::uint64_t>, std::vector<std::string_view>>;
  rng numbers(22);
  std::size_t read = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::string text(numbers.below(20), 't');
    const std::vector<std::uint64_t> words(numbers.below(20), numbers.next());
    bytes payload = pack(text, words, std::vector<std::string_view>{text, "x"});
    if (round % 8 != 0) damage(payload, bytes(payload), numbers);
    const auto inside = [&payload](const void* first, std::size_t count) {
      const auto* position = static_cast<const std::byte*>(first);
      return count == 0 || (position >= payload.data() && position + count <= payload.data() + payload.size());
    };
    if (const auto value = unpack<views>(payload)) {
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
