// SPDX-License-Identifier: Apache-2.0
// Damaged and random streams, from seeds: the frame reader reports the error, and reads and allocates within bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <nacre/rng.hpp>

#include "transport/tcp/frame_reader.hpp"

namespace nacre::transport::tcp {
namespace {

constexpr frame_limits limits{.ranks = 8, .payload_bytes_max = 100000};

std::vector<std::byte> valid_stream(rng& numbers) {
  std::vector<std::byte> stream;
  for (std::uint64_t i = numbers.below(8); i > 0; --i) {
    const message_ptr m = make_message(numbers.below(8) == 0 ? numbers.below(60000) : numbers.below(300));
    m->header.source = static_cast<std::uint32_t>(numbers.below(limits.ranks));
    m->header.kind = static_cast<message_kind>(numbers.below(4));
    std::memset(m->body(), 0x5a, m->header.payload_bytes);
    const auto frame = frame_of(*m);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  if (numbers.below(2) == 0) {
    const auto shutdown = shutdown_frame();
    stream.insert(stream.end(), shutdown.begin(), shutdown.end());
  }
  return stream;
}

void damage(std::vector<std::byte>& stream, rng& numbers) {
  if (stream.empty()) return;
  for (std::uint64_t i = numbers.below(4); i > 0; --i) {
    stream[numbers.below(stream.size())] = static_cast<std::byte>(numbers.next());
  }
  if (numbers.below(4) == 0) stream.resize(numbers.below(stream.size()) + 1);
  if (numbers.below(4) == 0) stream.insert(stream.begin(), static_cast<std::size_t>(numbers.below(50)), std::byte{0});
}

/// The messages and the error of a stream, for comparison.
struct outcome {
  std::vector<message_header> headers;
  bool ended = false;
  std::optional<frame_error> error;
};

outcome read_in_pieces(std::span<const std::byte> stream, rng& numbers) {
  chunk_pool chunks;
  frame_reader reader(limits, chunks);
  outcome result;
  message_list arrived;
  while (!stream.empty() && !result.error) {
    const frame_reader::places places = reader.space();
    EXPECT_FALSE(places.first.empty());
    EXPECT_LE(places.first.size() + places.second.size(), limits.payload_bytes_max + frame_reader::buffer_bytes);
    const std::size_t piece = std::min<std::size_t>(numbers.below(5000) + 1, stream.size());
    const std::size_t first = std::min(piece, places.first.size());
    const std::size_t second = std::min(piece - first, places.second.size());
    std::memcpy(places.first.data(), stream.data(), first);
    if (second > 0) std::memcpy(places.second.data(), stream.data() + first, second);
    stream = stream.subspan(first + second);
    result.error = reader.filled(first + second, arrived);
  }
  while (const message_ptr m = arrived.pop_front()) result.headers.push_back(m->header);
  result.ended = reader.ended();
  return result;
}

TEST(frame_reader_fuzz, a_damaged_stream_gives_the_same_outcome_however_it_is_cut) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    rng numbers(seed);
    std::vector<std::byte> stream = valid_stream(numbers);
    damage(stream, numbers);
    const outcome once = read_in_pieces(stream, numbers);
    const outcome again = read_in_pieces(stream, numbers);
    ASSERT_EQ(once.headers.size(), again.headers.size()) << "seed " << seed;
    ASSERT_EQ(once.error, again.error) << "seed " << seed;
    ASSERT_EQ(once.ended, again.ended) << "seed " << seed;
    for (const message_header& each : once.headers) ASSERT_FALSE(check_header(each, limits)) << "seed " << seed;
  }
}

TEST(frame_reader_fuzz, random_bytes_are_refused_at_the_first_header) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng numbers(seed);
    std::vector<std::byte> stream(1000);
    for (std::byte& each : stream) each = static_cast<std::byte>(numbers.next());
    const outcome result = read_in_pieces(stream, numbers);
    ASSERT_TRUE(result.error) << "seed " << seed;
    ASSERT_TRUE(result.headers.empty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::transport::tcp
