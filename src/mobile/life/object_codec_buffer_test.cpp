// SPDX-License-Identifier: Apache-2.0
// Objects that move with a large buffer, which becomes the message; and damaged arrivals of that kind.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <nacre/buffer.hpp>
#include <nacre/rng.hpp>

#include "am/handler_table.hpp"
#include "base/sanitized.hpp"
#include "mobile/life/object_codec.hpp"

namespace nacre {
namespace {

constexpr std::size_t large = 100'000;
constexpr std::uint32_t job_ranks = 8;
const object_id named(rank_id(2), 9);

buffer counted_up(std::size_t bytes) {
  buffer result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result.data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  return result;
}
bool is_numbered(const buffer& one, std::size_t bytes) {
  const buffer wanted = counted_up(bytes);
  return one.size() == bytes && std::memcmp(one.data(), wanted.data(), bytes) == 0;
}

/// A class with the buffer as its last member, or not.
struct chart {
  std::string name;
  buffer points;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, points);
  }
};
struct signed_chart {
  buffer points;
  std::string name;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(points, name);
  }
};

struct double_chart {
  buffer legend;
  buffer points;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(legend, points);
  }
};

template <class T>
object_state state_of(T object) {
  static_cast<void>(handler_table::get());
  object_state state;
  state.type = &detail::type_of<T>();
  state.policy = location_policy::jump_update;
  state.object = new T(std::move(object));
  return state;
}
template <class T>
T& object_of(object_state& state) {
  return *static_cast<T*>(state.object);
}
bool lies_in(const message& m, const void* position) {
  return position >= m.payload().data() && position < m.payload().data() + m.payload().size();
}

/// The object, moved by messages of bytes; whether its buffer became the message, and the message the buffer.
struct moved {
  object_state state;
  bool sent_in_place = false;
  bool received_in_place = false;
};
template <class T>
moved move_once(object_state state) {
  const std::byte* const previous = object_of<T>(state).points.data();
  message_ptr m = make_arrival(named, std::move(state), {3, 77}, false);
  const bool sent = lies_in(*m, previous);
  const auto* const first = m->payload().data();
  const auto* const end = first + m->payload().size();
  migration_request asked;
  auto arrival = take_arrival(m, asked, job_ranks);
  EXPECT_TRUE(arrival);
  if (!arrival) return {};
  EXPECT_EQ(asked.reply, 77U);
  const std::byte* const restored = object_of<T>(*arrival).points.data();
  const bool received = m == nullptr;
  EXPECT_TRUE(!received || (restored >= first && restored < end));
  return {std::move(*arrival), sent, received};
}

TEST(arrival_with_a_buffer, that_is_a_copy_leaves_the_buffer_to_the_object) {
  object_state state = state_of(chart{"Baltic", counted_up(large)});
  const std::byte* const previous = object_of<chart>(state).points.data();
  message_ptr m = copy_object(named, state);
  EXPECT_EQ(object_of<chart>(state).points.data(), previous);
  EXPECT_TRUE(is_numbered(object_of<chart>(state).points, large));
  migration_request nobody;
  auto copy = take_arrival(m, nobody, job_ranks);
  ASSERT_TRUE(copy);
  EXPECT_EQ(object_of<chart>(*copy).name, "Baltic");
  EXPECT_TRUE(is_numbered(object_of<chart>(*copy).points, large));
}

TEST(arrival_with_a_buffer, is_the_buffer_itself_at_either_end_however_often_it_moves) {
  object_state state = state_of(chart{"Baltic", counted_up(large)});
  for (int hop = 0; hop < 4; ++hop) {
    moved now = move_once<chart>(std::move(state));
    ASSERT_NE(now.state.object, nullptr);
    EXPECT_TRUE(now.sent_in_place) << hop;
    EXPECT_TRUE(now.received_in_place) << hop;
    EXPECT_EQ(object_of<chart>(now.state).name, "Baltic");
    EXPECT_TRUE(is_numbered(object_of<chart>(now.state).points, large));
    state.object = std::exchange(now.state.object, nullptr);
  }
}

TEST(arrival_with_a_buffer, is_the_last_of_several) {
  moved now = move_once<double_chart>(state_of(double_chart{counted_up(64), counted_up(large)}));
  ASSERT_NE(now.state.object, nullptr);
  EXPECT_TRUE(now.sent_in_place && now.received_in_place);
  EXPECT_TRUE(is_numbered(object_of<double_chart>(now.state).legend, 64));
  EXPECT_TRUE(is_numbered(object_of<double_chart>(now.state).points, large));
}

TEST(arrival_with_a_buffer, that_has_no_room_for_the_rest_is_copied_the_first_time) {
  const std::string long_name(1000, 'n');
  moved first = move_once<chart>(state_of(chart{long_name, counted_up(large)}));
  ASSERT_NE(first.state.object, nullptr);
  EXPECT_FALSE(first.sent_in_place);
  EXPECT_TRUE(first.received_in_place);
  // On its way it hears from more ranks; their streams take room.
  for (std::uint32_t source = 0; source < 5; ++source) {
    message_list ready;
    message_ptr m = make_message(0);
    m->header.object = named.value();
    m->header.source = source;
    m->header.kind = message_kind::object;
    EXPECT_EQ(first.state.order.admit(m, ready), streams::verdict::admitted);
  }
  moved second = move_once<chart>(std::move(first.state));
  ASSERT_NE(second.state.object, nullptr);
  EXPECT_TRUE(second.sent_in_place);
  EXPECT_EQ(object_of<chart>(second.state).name, long_name);
  EXPECT_TRUE(is_numbered(object_of<chart>(second.state).points, large));
}

TEST(arrival_with_a_buffer, that_is_small_or_part_of_much_or_not_the_last_member_is_copied) {
  moved small = move_once<chart>(state_of(chart{"", counted_up(1000)}));
  EXPECT_FALSE(small.sent_in_place);
  moved part = move_once<chart>(state_of(chart{std::string(3 * large, 'n'), counted_up(large)}));
  EXPECT_FALSE(part.sent_in_place);
  EXPECT_FALSE(part.received_in_place) << "its block would be mostly waste";
  moved first = move_once<signed_chart>(state_of(signed_chart{counted_up(large), "Baltic"}));
  EXPECT_FALSE(first.sent_in_place);
  EXPECT_FALSE(first.received_in_place);
  EXPECT_EQ(object_of<signed_chart>(first.state).name, "Baltic");
  EXPECT_TRUE(is_numbered(object_of<signed_chart>(first.state).points, large));
}

TEST(arrival_with_a_buffer, whose_messages_wait_takes_them_along) {
  for (const std::size_t bytes : {std::size_t{40}, std::size_t{4000}}) {
    object_state state = state_of(chart{"Baltic", counted_up(large)});
    message_ptr m = make_message(bytes);
    std::memset(m->body(), 7, bytes);
    m->header.object = named.value();
    m->header.source = 5;
    m->header.kind = message_kind::object;
    ASSERT_EQ(state.order.admit(m, state.pending), streams::verdict::admitted);
    moved now = move_once<chart>(std::move(state));
    ASSERT_NE(now.state.object, nullptr);
    EXPECT_EQ(now.sent_in_place, bytes == 40) << "there is so much room in front of a buffer";
    ASSERT_EQ(now.state.pending.size(), 1U);
    const auto payload = now.state.pending.front()->payload();
    EXPECT_EQ(payload.size(), bytes);
    for (const std::byte each : payload) ASSERT_EQ(each, std::byte{7});
    EXPECT_TRUE(is_numbered(object_of<chart>(now.state).points, large));
  }
}

/// The next buffer of that size gets a block filled with this, if the pools are on.
message_ptr arrival_in_a_block_of(std::byte previous) {
  {
    buffer last_user(large);
    message_ptr m = detail::buffer_parts::into_message(last_user, 240);
    std::memset(m->body(), std::to_integer<int>(previous), m->header.payload_bytes);
  }
  return make_arrival(named, state_of(chart{"Baltic", counted_up(large)}), {}, false);
}

TEST(arrival_with_a_buffer, carries_nothing_of_what_its_block_held_before) {
  const message_ptr one = arrival_in_a_block_of(std::byte{0x11}), other = arrival_in_a_block_of(std::byte{0xee});
  ASSERT_EQ(one->payload().size(), other->payload().size());
  EXPECT_EQ(std::memcmp(one->body(), other->body(), one->payload().size()), 0);
}

TEST(arrival_with_a_buffer, whose_object_begins_where_it_cannot_is_none) {
  const chart object{"Baltic", counted_up(large)};
  const std::size_t object_bytes = packed_size(object);
  const auto comes_back = [&](std::uint32_t begin) {
    message_ptr m = make_arrival(named, state_of(chart{"Baltic", counted_up(large)}), {}, false);
    const auto right = static_cast<std::uint32_t>(m->header.payload_bytes - object_bytes);
    std::uint32_t found_count = 0;
    std::size_t index = right;  // the number stands in front of the gap
    while (found_count != right) std::memcpy(&found_count, m->body() + --index, sizeof found_count);
    begin = begin == 0 ? right : begin;
    std::memcpy(m->body() + index, &begin, sizeof begin);
    migration_request asked;
    return take_arrival(m, asked, job_ranks).has_value();
  };
  EXPECT_TRUE(comes_back(0)) << "that is, where it does begin";
  for (const std::uint32_t begin : {1U, 16U, 229U, 1U << 20, 0xffff'fff0U}) EXPECT_FALSE(comes_back(begin)) << begin;
}

TEST(arrival_with_a_buffer, gives_credit_back_when_the_object_keeps_the_message) {
  static int released = 0;
  static constexpr body_ops counting{nullptr, nullptr, [](message&) noexcept { ++released; }, true};
  released = 0;
  {
    message_ptr m = make_arrival(named, state_of(chart{"", counted_up(large)}), {}, false);
    m->ops = &counting;
    migration_request asked;
    const auto state = take_arrival(m, asked, job_ranks);
    ASSERT_TRUE(state);
    EXPECT_EQ(released, 1) << "the message has been received; the object may live for long";
  }
  EXPECT_EQ(released, 1);
}

TEST(arrival_with_a_buffer, that_is_damaged_gives_nothing_or_an_object_of_its_own) {
  const message_ptr whole = make_arrival(named, state_of(chart{"Baltic", counted_up(16'384)}), {}, false);
  const std::uint32_t bytes = whole->header.payload_bytes, head = bytes - 16'384;
  rng random(6);
  for (int round = 0; round < (tests::sanitized ? 1000 : 10'000); ++round) {
    const auto kept = static_cast<std::uint32_t>(random.below(4) == 0 ? random.below(bytes) : bytes);
    message_ptr damaged = make_message(kept);
    std::memcpy(damaged->body(), whole->body(), kept);
    damaged->header.object = named.value();
    if (kept == bytes) damaged->body()[random.below(head)] = static_cast<std::byte>(random.next());
    migration_request asked;
    const auto state = take_arrival(damaged, asked, job_ranks);
    if (!state || state->type != &detail::type_of<chart>()) continue;
    const auto& points = static_cast<const chart*>(state->object)->points;
    ASSERT_LE(points.size(), 16'384U);
    unsigned sum = 0;  // the address sanitizer sees bytes outside every block
    for (const std::byte each : std::span(points.data(), points.size())) sum += std::to_integer<unsigned>(each);
    ASSERT_LE(sum, 255U * 16'384U);
  }
}

}  // namespace
}  // namespace nacre
