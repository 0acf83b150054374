// SPDX-License-Identifier: Apache-2.0
// The promises of nacre::buffer below the ranks: its packed bytes, and when its block is the message itself.
#include <nacre/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/handler.hpp>

namespace nacre {
namespace {

buffer counted_up(std::size_t bytes) {
  buffer result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result.data()[i] = static_cast<std::byte>(i * 7 + bytes);
  return result;
}

bool is_numbered(const buffer& one, std::size_t bytes) {
  if (one.size() != bytes) return false;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (one.data()[i] != static_cast<std::byte>(i * 7 + bytes)) return false;
  }
  return true;
}

/// A message that holds these arguments as live values.
template <class... Ts>
message_ptr live_message(Ts... values) {
  using tuple = std::tuple<Ts...>;
  message_ptr m = make_message(sizeof(tuple));
  ::new (static_cast<void*>(m->body())) tuple(std::move(values)...);
  m->ops = &detail::body_of<tuple>::ops;
  m->header.handler = 77;
  return m;
}

/// Reads top-level arguments, as a handler gets them.
template <class... Ts>
std::optional<std::tuple<Ts...>> arguments_of(message_ptr& m) {
  std::tuple<Ts...> arguments;
  reader in(m->payload());
  std::apply([&](auto&... argument) { (detail::read_argument(in, argument), ...); }, arguments);
  if (!in.finish()) return std::nullopt;
  detail::make_buffers_owning(arguments, m);
  return arguments;
}

bool lies_in(const message& m, const void* position) {
  const auto payload = m.payload();
  return position >= payload.data() && position < payload.data() + payload.size();
}

TEST(buffer, inside_other_values_it_is_copied_and_aligned) {
  for (const std::size_t bytes : {0, 1, 15, 16, 17, 5000, 100'000}) {
    std::vector<buffer> several;
    several.push_back(counted_up(bytes));
    several.push_back(counted_up(3));
    const std::vector<std::byte> packed = pack(std::uint8_t{9}, several);
    const auto back = unpack<std::tuple<std::uint8_t, std::vector<buffer>>>(packed);
    ASSERT_TRUE(back.has_value()) << bytes;
    const auto& got = std::get<1>(*back);
    ASSERT_EQ(got.size(), 2U);
    EXPECT_TRUE(is_numbered(got[0], bytes));
    EXPECT_TRUE(is_numbered(got[1], 3));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got[0].data()) % 16, 0U);
  }
}

TEST(buffer, lengths_and_gaps_that_lie_are_refused) {
  std::vector<std::byte> packed = pack(counted_up(40));
  const auto refused = [&] { return !unpack<buffer>(packed).has_value(); };
  ASSERT_FALSE(refused());
  packed[0] = std::byte{41};
  EXPECT_TRUE(refused());
  packed[0] = std::byte{39};
  EXPECT_TRUE(refused());
  packed[0] = std::byte{40};
  packed[4] = std::byte{255};
  EXPECT_TRUE(refused());
  packed[4] = std::byte{10};  // one less than written: a byte is left over
  EXPECT_TRUE(refused());
  packed.resize(4);
  EXPECT_TRUE(refused());
}

TEST(buffer, as_the_last_argument_becomes_the_message_and_is_received_in_it) {
  buffer sent = counted_up(10'000);
  const std::byte* const position = sent.data();
  message_ptr m = packed_form(live_message(std::uint32_t{5}, std::string("name"), std::move(sent)));
  ASSERT_TRUE(m->packed());
  EXPECT_EQ(m->header.handler, 77U);
  EXPECT_TRUE(lies_in(*m, position)) << "the bytes were copied";
  // Does the work of a transport: copies the bytes to another block.
  message_ptr arrived = make_message(m->header.payload_bytes);
  std::memcpy(arrived->body(), m->body(), m->header.payload_bytes);
  arrived->header = m->header;
  const message* const block = arrived.get();
  const std::byte* const begin = arrived->body();
  const std::size_t payload_bytes = arrived->header.payload_bytes;
  const auto got = arguments_of<std::uint32_t, std::string, buffer>(arrived);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::get<0>(*got), 5U);
  EXPECT_EQ(std::get<1>(*got), "name");
  const buffer& received = std::get<2>(*got);
  EXPECT_TRUE(is_numbered(received, 10'000));
  EXPECT_EQ(arrived, nullptr) << "the buffer owns the message that had block " << block;
  EXPECT_EQ(received.data() + received.size(), begin + payload_bytes) << "the bytes were copied";
}

TEST(buffer, that_was_received_and_shortened_goes_on_without_a_copy) {
  message_ptr m = packed_form(live_message(counted_up(5000)));
  buffer hop = std::move(std::get<0>(*arguments_of<buffer>(m)));
  hop.shrink(4000);
  const std::byte* const position = hop.data();
  m = packed_form(live_message(7, std::move(hop)));
  EXPECT_TRUE(lies_in(*m, position));
  const auto got = arguments_of<int, buffer>(m);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::get<0>(*got), 7);
  EXPECT_EQ(std::get<1>(*got).size(), 4000U);
  EXPECT_EQ(std::get<1>(*got).data(), position);
}

TEST(buffer, where_it_cannot_be_the_message_is_copied) {
  {
    message_ptr m = packed_form(live_message(counted_up(1000), 5));  // not the last one
    const auto got = arguments_of<buffer, int>(m);
    ASSERT_TRUE(got.has_value());
    EXPECT_TRUE(is_numbered(std::get<0>(*got), 1000));
  }
  {
    message_ptr m = packed_form(live_message(std::string(500, 'x'), counted_up(1000)));  // no room in front of it
    const auto got = arguments_of<std::string, buffer>(m);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(std::get<0>(*got), std::string(500, 'x'));
    EXPECT_TRUE(is_numbered(std::get<1>(*got), 1000));
  }
  {
    message_ptr m = packed_form(live_message(counted_up(900), counted_up(20), counted_up(600), buffer()));
    const auto got = arguments_of<buffer, buffer, buffer, buffer>(m);
    ASSERT_TRUE(got.has_value());
    EXPECT_TRUE(is_numbered(std::get<0>(*got), 900));
    EXPECT_TRUE(is_numbered(std::get<1>(*got), 20));
    EXPECT_TRUE(is_numbered(std::get<2>(*got), 600));
    EXPECT_TRUE(std::get<3>(*got).empty());
  }
}

TEST(buffer, beside_a_view_leaves_the_message_to_the_view) {
  const std::vector<std::uint32_t> words{1, 2, 3};
  message_ptr m = packed_form(live_message(words, counted_up(4000)));
  const auto got = arguments_of<std::span<const std::uint32_t>, buffer>(m);
  ASSERT_TRUE(got.has_value());
  ASSERT_NE(m, nullptr);
  EXPECT_TRUE(lies_in(*m, std::get<0>(*got).data()));
  EXPECT_FALSE(lies_in(*m, std::get<1>(*got).data()));
  EXPECT_TRUE(is_numbered(std::get<1>(*got), 4000));
}

TEST(buffer, that_takes_a_message_over_tells_who_counts_it_once) {
  struct counting : body_ops {
    counting() noexcept : body_ops{nullptr, nullptr, [](message& m) noexcept { ++of(m).heard; }, true} {}
    static counting& of(message& m) { return const_cast<counting&>(static_cast<const counting&>(*m.ops)); }
    int heard = 0;
  } account;
  message_ptr m = packed_form(live_message(counted_up(5000)));
  m->ops = &account;
  {
    const auto got = arguments_of<buffer>(m);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(account.heard, 1);
  }
  EXPECT_EQ(account.heard, 1);
}

TEST(buffer, moves_and_shows_its_elements) {
  buffer one = counted_up(33);
  buffer two = std::move(one);
  EXPECT_TRUE(one.empty());  // NOLINT: what is left behind is empty
  EXPECT_EQ(two.as<std::uint64_t>().size(), 4U);
  two = counted_up(8);
  EXPECT_TRUE(is_numbered(two, 8));
  two.as<std::uint64_t>()[0] = 5;
  EXPECT_EQ(buffer::copy_of(std::as_bytes(two.as<std::uint64_t>())).as<std::uint64_t>()[0], 5U);
  EXPECT_TRUE(buffer(0).empty());
}

}  // namespace
}  // namespace nacre
