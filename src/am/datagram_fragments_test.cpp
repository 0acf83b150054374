// SPDX-License-Identifier: Apache-2.0
// Fragments of unreliable messages: complete once, unchanged, from any order, or not at all.
#include "am/datagram_fragments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

namespace nacre {
namespace {

using bytes_of = std::vector<std::byte>;

bytes_of some_bytes(std::size_t count, std::uint64_t seed) {
  bytes_of result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(i * 7 + i / 251 + seed * 13);
  return result;
}

fragment_head head_of(std::uint64_t number, std::size_t bytes) {
  return {.number = number, .message_bytes = static_cast<std::uint32_t>(bytes), .handler = 3};
}

/// The datagrams of a message whose bytes lie in `parts`.
std::vector<bytes_of> cut(const fragment_head& head, std::span<const std::span<const std::byte>> parts,
                          std::size_t datagram_bytes) {
  std::vector<bytes_of> result;
  for (outgoing_fragments all(head, parts, datagram_bytes); !all.is_done(); all.advance()) {
    bytes_of datagram;
    const auto pieces = all.pieces();
    EXPECT_LE(pieces.size(), outgoing_fragments::pieces_max);
    for (const std::span<const std::byte> piece : pieces) datagram.insert(datagram.end(), piece.begin(), piece.end());
    EXPECT_LE(datagram.size(), datagram_bytes);
    result.push_back(std::move(datagram));
  }
  return result;
}
std::vector<bytes_of> cut(std::uint64_t number, const bytes_of& content, std::size_t datagram_bytes) {
  const std::span<const std::byte> whole(content);
  return cut(head_of(number, content.size()), {&whole, 1}, datagram_bytes);
}

bool equal(const message& m, const bytes_of& content) {
  return std::equal(m.payload().begin(), m.payload().end(), content.begin(), content.end());
}

TEST(fragments, a_message_that_fits_one_datagram_is_complete_at_once) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{68}}) {
    incoming_fragments incoming(1 << 20);
    const bytes_of content = some_bytes(bytes, 1);
    const auto datagrams = cut(9, content, 100);
    ASSERT_EQ(datagrams.size(), 1U);
    const auto [whole, is_malformed] = incoming.take(rank_id{4}, datagrams[0]);
    ASSERT_FALSE(is_malformed);
    ASSERT_NE(whole, nullptr);
    EXPECT_TRUE(equal(*whole, content));
    EXPECT_EQ(whole->header.handler, 3U);
    EXPECT_EQ(whole->header.source, 4U);
    EXPECT_EQ(incoming.kept_bytes(), 0U);
  }
}

TEST(fragments, bytes_that_lie_in_many_places_are_cut_as_if_they_lay_together) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    rng random(seed);
    const bytes_of content = some_bytes(random.below(5000), seed);
    std::vector<std::span<const std::byte>> parts;
    for (std::size_t place = 0; place < content.size();) {
      const std::size_t length =
          std::min<std::size_t>(random.below(random.below(2) == 0 ? 9 : 700), content.size() - place);
      parts.push_back(std::span(content).subspan(place, length));
      place += length;
    }
    const std::size_t datagram_bytes = 33 + random.below(400);
    ASSERT_EQ(cut(head_of(5, content.size()), parts, datagram_bytes), cut(5, content, datagram_bytes)) << seed;
  }
}

TEST(fragments, a_sender_goes_on_where_it_had_no_room) {
  const bytes_of content = some_bytes(1000, 2);
  const std::array<std::span<const std::byte>, 2> parts{std::span(content).first(123), std::span(content).subspan(123)};
  outgoing_fragments first(head_of(1, 1000), parts, 132);
  first.advance();
  first.advance();
  const std::array<std::span<const std::byte>, 1> whole{content};
  outgoing_fragments rest(head_of(1, 1000), whole, 132, first.offset());
  EXPECT_EQ(rest.offset(), 200U);
  const auto all = cut(1, content, 132);
  for (std::size_t i = 2; i < all.size(); ++i, rest.advance()) {
    bytes_of datagram;
    for (const auto piece : rest.pieces()) datagram.insert(datagram.end(), piece.begin(), piece.end());
    EXPECT_EQ(datagram, all[i]);
  }
  EXPECT_TRUE(rest.is_done());
}

/// Messages of two senders. Their fragments come in any order, and some not at all.
void lose_some(std::uint64_t seed) {
  rng random(seed);
  const double loss = random.below(3) == 0 ? 0 : 0.1 * random.uniform();
  std::map<std::pair<std::uint32_t, std::uint64_t>, bytes_of> sent;
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> is_harmed;
  std::vector<std::pair<std::uint32_t, bytes_of>> flying;
  for (std::uint64_t number = 1; number <= 40; ++number) {
    const auto source = static_cast<std::uint32_t>(random.below(2));
    const bytes_of content = some_bytes(random.below(20'000), seed + number);
    sent[{source, number}] = content;
    for (bytes_of& each : cut(number, content, 1200)) {
      if (random.uniform() < loss) {
        is_harmed[{source, number}] = true;
      } else {
        flying.emplace_back(source, std::move(each));
      }
    }
  }
  const std::size_t reach = random.below(2) == 0 ? 5 : flying.size();
  incoming_fragments incoming(std::uint64_t{1} << 24);
  std::size_t complete = 0;
  while (!flying.empty()) {
    const auto next = flying.begin() + static_cast<std::ptrdiff_t>(random.below(std::min(reach, flying.size())));
    const auto [source, datagram] = std::move(*next);
    flying.erase(next);
    fragment_head head;
    std::memcpy(&head, datagram.data(), sizeof head);
    const auto [whole, is_malformed] = incoming.take(rank_id(source), datagram);
    ASSERT_FALSE(is_malformed);
    if (whole == nullptr) continue;
    ++complete;
    const auto match = sent.find({source, head.number});
    ASSERT_NE(match, sent.end()) << "a message is complete once";
    EXPECT_FALSE((is_harmed.contains({source, head.number})));
    EXPECT_TRUE(equal(*whole, match->second));
    sent.erase(match);
  }
  EXPECT_EQ(complete + is_harmed.size(), 40U);
}

TEST(fragments, come_together_in_any_order_and_a_message_that_lacks_one_never_does) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    lose_some(seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(fragments, beyond_the_bound_the_oldest_incomplete_message_is_given_up_and_never_complete) {
  incoming_fragments incoming(10'000);
  std::vector<std::vector<bytes_of>> all;
  for (std::uint64_t number = 0; number < 5; ++number) all.push_back(cut(number, some_bytes(3000, number), 1032));
  for (const auto& each : all) EXPECT_EQ(incoming.take(rank_id{1}, each[0]).whole, nullptr);
  EXPECT_EQ(incoming.kept_bytes(), 9000U);
  EXPECT_EQ(incoming.given_up(), 2U);
  for (std::size_t number = 2; number < 5; ++number) {
    EXPECT_EQ(incoming.take(rank_id{1}, all[number][1]).whole, nullptr);
    EXPECT_NE(incoming.take(rank_id{1}, all[number][2]).whole, nullptr) << number;
  }
  EXPECT_EQ(incoming.take(rank_id{1}, all[0][1]).whole, nullptr);
  EXPECT_EQ(incoming.take(rank_id{1}, all[0][2]).whole, nullptr) << "its first fragment is gone";
}

TEST(fragments, that_no_sender_writes_are_malformed) {
  const bytes_of content = some_bytes(3000, 1);
  const auto good = cut(1, content, 1032);
  const auto refuses = [&](auto&& change, const bytes_of& original) {
    incoming_fragments incoming(1 << 20);
    EXPECT_FALSE(incoming.take(rank_id{1}, good[0]).is_malformed);
    bytes_of harmed = original;
    fragment_head head;
    std::memcpy(&head, harmed.data(), sizeof head);
    change(head, harmed);
    if (harmed.size() >= sizeof head) std::memcpy(harmed.data(), &head, sizeof head);
    return incoming.take(rank_id{1}, harmed).is_malformed;
  };
  const auto as_it_is = [](fragment_head&, bytes_of&) {};
  EXPECT_FALSE(refuses(as_it_is, good[1]));
  EXPECT_TRUE(refuses(as_it_is, good[0])) << "it has come already";
  EXPECT_TRUE(refuses([](fragment_head&, bytes_of& bytes) { bytes.resize(31); }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head&, bytes_of& bytes) { bytes.pop_back(); }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.offset = 4000; }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.offset += 1; }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.fragment_bytes = 0; }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.message_bytes = 0xffffffffU; }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.message_bytes = 3001; }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.handler = 4; }, good[1]));
  EXPECT_TRUE(refuses([](fragment_head& head, bytes_of&) { head.flags = flag_uncounted; }, good[1]));
}

}  // namespace
}  // namespace nacre
