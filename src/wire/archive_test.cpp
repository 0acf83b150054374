// SPDX-License-Identifier: Apache-2.0
// Values of every kind of type come out of an archive equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

#include "wire/archive_cases.hpp"
#include "wire/archive_test_types.hpp"

namespace nacre {
namespace {

using namespace test;

struct table {
  int cells[2][2] = {};
  std::string names[2];
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cells, names);
  }
};

TEST(archive, random_values_of_every_type_come_back_equal) {
  rng numbers(1);
  for (const type_case& type : rich_cases()) {
    for (int round = 0; round < 60; ++round) {
      EXPECT_TRUE(type.comes_back(numbers.fork(numbers.next()))) << type.name << " in round " << round;
    }
  }
}

TEST(archive, a_growing_writer_writes_the_same_bytes_as_one_of_the_right_size) {
  rng numbers(2);
  for (const type_case& type : rich_cases()) {
    const rng value = numbers.fork(numbers.next());
    EXPECT_EQ(type.pack_random_growing(value), type.pack_random(value)) << type.name;
  }
}

TEST(archive, empty_values_of_every_type_come_back_empty) {
  for (const type_case& type : rich_cases()) {
    const bytes blank = type.pack_blank();
    const reading read = type.read(blank);
    EXPECT_EQ(read.error, wire_error::none) << type.name;
    EXPECT_EQ(read.again, blank) << type.name;
  }
}

TEST(archive, reading_replaces_what_a_value_held_before) {
  rng numbers(3);
  for (const type_case& type : rich_cases()) {
    const bytes packed = type.pack_random(numbers.fork(1));
    EXPECT_EQ(type.read_over(packed, numbers.fork(2)).again, type.read(packed).again) << type.name;
    numbers.next();
  }
}

TEST(archive, values_packed_together_are_those_of_a_tuple) {
  const auto packed = pack(1, std::string("two"), 3.0);
  EXPECT_EQ(packed, pack(std::tuple(1, std::string("two"), 3.0)));
  int one = 0;
  std::string two;
  double three = 0;
  reader ar{std::span<const std::byte>(packed)};
  ar(one)(two, three);
  EXPECT_TRUE(ar.finish());
  EXPECT_EQ(std::tuple(one, two, three), std::tuple(1, "two", 3.0));
}

TEST(archive, the_format_is_the_documented_one) {
  const auto expect_bytes = [](const std::vector<std::byte>& packed, std::vector<unsigned> wanted) {
    std::vector<unsigned> numbers;
    for (const std::byte b : packed) numbers.push_back(std::to_integer<unsigned>(b));
    EXPECT_EQ(numbers, wanted);
  };
  expect_bytes(pack(true, std::uint16_t{0x0201}, colour::blue), {1, 1, 2, 2});
  expect_bytes(pack(std::string_view("ab")), {2, 0, 0, 0, 'a', 'b'});
  expect_bytes(pack('x', std::vector<std::uint32_t>{7}), {'x', 1, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0});
  expect_bytes(pack(std::vector<double>{}), {0, 0, 0, 0});
  expect_bytes(pack(std::vector<bool>{true, false, true, false, false, false, false, false, true}), {9, 0, 0, 0, 5, 1});
  expect_bytes(pack(std::bitset<9>(0x105)), {5, 1});
  expect_bytes(pack(std::optional<char>{}, std::optional<char>('c')), {0, 1, 'c'});
  expect_bytes(pack(std::variant<int, char>('c')), {1, 'c'});
  expect_bytes(pack(std::make_unique<char>('p'), std::shared_ptr<char>()), {1, 'p', 0});
  expect_bytes(pack(std::map<char, bool>{{'k', true}}), {1, 0, 0, 0, 'k', 1});
  expect_bytes(pack(std::pair(std::monostate{}, 'c'), blank_form{}), {'c'});
  expect_bytes(pack(std::vector<blank_form>(2)), {2, 0, 0, 0, 0, 0});
}

TEST(archive, a_length_of_2_to_the_32_or_more_takes_twelve_bytes) {
  sizer size;
  size.write_length(0xffff'fffe);
  EXPECT_EQ(size.size(), 4u);
  size.write_length(0xffff'ffff);
  EXPECT_EQ(size.size(), 16u);
  writer ar;
  ar.write_length(0x1'0000'0000);
  const auto bytes = ar.bytes();
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(unpack<std::uint64_t>(bytes.subspan(4)), 0x1'0000'0000u);
}

TEST(archive, spans_and_string_views_are_read_in_place) {
  const std::vector<double> numbers{1, 2, 3};
  const bool flags[] = {true, false};
  const auto packed = pack(char{}, std::span(numbers), std::string_view("text"), std::span(flags));
  using views = std::tuple<char, std::span<const double>, std::string_view, std::span<const bool>>;
  const auto back = unpack<views>(packed);
  ASSERT_TRUE(back);
  const auto& [_, doubles, text, bools] = *back;
  EXPECT_EQ(std::vector(doubles.begin(), doubles.end()), numbers);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(std::vector(bools.begin(), bools.end()), (std::vector{true, false}));
  const auto* inside = reinterpret_cast<const std::byte*>(doubles.data());
  EXPECT_TRUE(inside > packed.data() && inside < packed.data() + packed.size());
}

TEST(archive, a_vector_is_written_like_a_span_and_a_string_like_a_view) {
  const std::vector<int> numbers{1, 2};
  EXPECT_EQ(pack(numbers), pack(std::span(numbers)));
  EXPECT_EQ(pack(std::string("abc")), pack(std::string_view("abc")));
  const auto packed = pack(std::span(numbers), std::string_view("abc"));
  const auto back = unpack<std::tuple<std::vector<int>, std::string>>(packed);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, std::tuple(numbers, "abc"));
}

TEST(archive, a_view_into_a_misaligned_payload_is_an_error_and_a_copy_is_not) {
  const std::vector<double> numbers{1, 2, 3};
  const std::vector<std::byte> packed = pack(numbers);
  std::vector<std::byte> shifted(packed.size() + 1);
  std::copy(packed.begin(), packed.end(), shifted.begin() + 1);
  const auto payload = std::span<const std::byte>(shifted).subspan(1);
  EXPECT_EQ(unpack<std::span<const double>>(payload).error(), wire_error::misaligned);
  EXPECT_EQ(unpack<std::vector<double>>(payload), numbers);
}

TEST(archive, one_writer_serves_move_only_values_without_touching_them) {
  const auto value = std::make_unique<tree>();
  value->left = std::make_unique<tree>();
  value->left->value = 5;
  const auto back = unpack<std::unique_ptr<tree>>(pack(value));
  ASSERT_TRUE(back);
  EXPECT_EQ((*back)->left->value, 5);
  EXPECT_EQ(value->left->value, 5);
}

TEST(archive, two_shared_pointers_to_one_object_arrive_as_two_objects) {
  const auto one = std::make_shared<int>(7);
  const auto back = unpack<std::vector<std::shared_ptr<const int>>>(pack(std::vector{one, one}));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back->at(0), 7);
  EXPECT_EQ(*back->at(1), 7);
  EXPECT_NE(back->at(0), back->at(1));
}

struct later_event {
  double time = 0;
  int kind = 0;
  friend bool operator<(const later_event& a, const later_event& b) { return a.time < b.time; }
};
struct cell_with_adaptors {
  std::priority_queue<later_event> pending;
  std::queue<std::string> waiting;
  std::stack<int> open;
  std::map<int, std::queue<int>> by_kind;
  std::atomic<int> seen{0};
  template <class Archive>
  void serialize(Archive& ar) {
    ar& pending& waiting& open;
    ar(by_kind, seen);
  }
};

TEST(archive, adaptors_and_atomics_arrive_with_what_they_hold) {
  cell_with_adaptors cell;
  for (const int n : {3, 1, 2}) {
    cell.pending.push({1.0 * n, n});
    cell.waiting.push(std::to_string(n));
    cell.open.push(n);
    cell.by_kind[n].push(10 * n);
  }
  cell.seen = 7;
  cell_with_adaptors copy;
  const std::vector<std::byte> bytes = pack(cell);
  reader in(bytes);
  in(copy);
  ASSERT_TRUE(in.finish());
  for (const int n : {3, 2, 1}) {
    EXPECT_EQ(copy.pending.top().kind, n);
    copy.pending.pop();
  }
  EXPECT_EQ(copy.waiting.front(), "3");
  EXPECT_EQ(copy.waiting.back(), "2");
  EXPECT_EQ(copy.open.top(), 2);
  EXPECT_EQ(copy.by_kind.at(2).front(), 20);
  EXPECT_EQ(copy.seen, 7);
}

TEST(archive, c_arrays_are_their_elements) {
  const auto back = unpack<table>(pack(table{{{1, 2}, {3, 4}}, {"a", "b"}}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->cells[1][0], 3);
  EXPECT_EQ(back->names[1], "b");
}

TEST(archive, a_trivial_type_without_default_constructor_needs_no_tag) {
  struct pinned {
    explicit pinned(int n) : number(n) {}
    int number;
  };
  const std::vector<pinned> values{pinned(1), pinned(2)};
  const auto vector = unpack<std::vector<pinned>>(pack(values));
  ASSERT_TRUE(vector);
  EXPECT_EQ(vector->at(1).number, 2);
  const auto nested =
      unpack<std::map<int, std::optional<pinned>>>(pack(std::map<int, std::optional<pinned>>{{1, values[0]}}));
  ASSERT_TRUE(nested);
  EXPECT_EQ(nested->at(1)->number, 1);
}

TEST(archive, a_fixed_writer_that_overflows_ends_the_process_with_a_reason) {
  std::array<std::byte, 4> memory;
  EXPECT_DEATH(
      {
        writer ar{std::span<std::byte>(memory)};
        ar(1.0);
      },
      "packed_size");
}

/// The text of the error of packing `value`; empty when there is none.
template <class T>
std::string refusal_of(const T& value) {
  try {
    static_cast<void>(packed_size(value));
    return "";
  } catch (const usage_error& error) {
    return error.what();
  }
}

TEST(archive, a_value_too_deep_for_any_reader_is_not_packed) {
  tree root;
  tree* last = &root;
  for (int level = 0; level < archive_depth_max; ++level) {
    last->left = std::make_unique<tree>();
    last = last->left.get();
  }
  EXPECT_NE(refusal_of(root).find("tree nests more than 256 "), std::string::npos) << refusal_of(root);
  EXPECT_THROW(static_cast<void>(pack(root)), usage_error);
  for (int level = 0; level <= archive_depth_max / 2; ++level) root = std::move(*std::exchange(root.left, nullptr));
  EXPECT_EQ(refusal_of(root), "") << "it fits";
}

struct uncopied {
  uncopied() = default;
  uncopied(const uncopied&) { throw std::runtime_error("copied"); }
  uncopied& operator=(const uncopied&) = default;
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(archive, a_variant_without_a_value_is_not_packed) {
  const uncopied source;
  std::variant<int, uncopied> value;
  EXPECT_THROW(value.emplace<uncopied>(source), std::runtime_error);
  ASSERT_TRUE(value.valueless_by_exception());
  EXPECT_NE(refusal_of(value).find("a value of the class std::variant<"), std::string::npos) << refusal_of(value);
  EXPECT_NE(refusal_of(value).find("valueless_by_exception"), std::string::npos) << refusal_of(value);
}

}  // namespace
}  // namespace nacre
