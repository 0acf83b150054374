// SPDX-License-Identifier: Apache-2.0
// Invalid bytes: truncated, forged, out of range. The reader reports them, keeps its first error, and allocates almost
// nothing.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include <nacre/rng.hpp>

#include "wire/allocation_meter.hpp"
#include "wire/archive_cases.hpp"
#include "wire/archive_test_types.hpp"

namespace {

struct meter_state {
  bool is_on = false;
  std::ptrdiff_t live = 0;
  std::ptrdiff_t peak = 0;
};
thread_local meter_state meter;

void count(std::ptrdiff_t bytes) {
  if (!meter.is_on) return;
  meter.live += bytes;
  meter.peak = std::max(meter.peak, meter.live);
}

void* allocate(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  count(static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  count(-static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

namespace nacre::test {

allocation_meter::allocation_meter() { meter = {.is_on = true}; }
allocation_meter::~allocation_meter() { meter.is_on = false; }
std::size_t allocation_meter::peak_bytes() const { return static_cast<std::size_t>(meter.peak); }

}  // namespace nacre::test

namespace nacre {
namespace {

using namespace test;

template <class T>
wire_error error_of(const bytes& payload) {
  const auto value = unpack<T>(payload);
  return value ? wire_error::none : value.error();
}

/// A payload of a forged length and `rest` zero bytes.
bytes forged(std::uint64_t length, std::size_t rest) {
  writer ar;
  ar.write_length(length);
  bytes data(ar.bytes().begin(), ar.bytes().end());
  data.resize(data.size() + rest);
  return data;
}

TEST(archive_bounds, every_strict_prefix_of_a_payload_is_an_error) {
  rng numbers(11);
  for (const type_case& type : rich_cases()) {
    const bytes whole = type.pack_random(numbers.fork(numbers.next()));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const wire_error error = type.read(std::span(whole).first(length)).error;
      ASSERT_TRUE(error == wire_error::truncated || error == wire_error::length_forged) << type.name << length;
    }
  }
}

TEST(archive_bounds, one_byte_too_many_is_an_error) {
  rng numbers(12);
  for (const type_case& type : rich_cases()) {
    bytes longer = type.pack_random(numbers.fork(numbers.next()));
    longer.push_back({});
    EXPECT_EQ(type.read(longer).error, wire_error::trailing_bytes) << type.name;
  }
}

TEST(archive_bounds, a_forged_length_is_refused_without_allocating) {
  const auto expect_forged = []<class T>(T*) {
    for (const std::uint64_t length : {101ull, 1ull << 20, 0xfffffffeull, 1ull << 40, ~0ull / 8, ~0ull}) {
      const bytes payload = forged(length, 100);
      const allocation_meter reading;
      EXPECT_EQ(error_of<T>(payload), wire_error::length_forged) << __PRETTY_FUNCTION__ << length;
      EXPECT_EQ(reading.peak_bytes(), 0u) << __PRETTY_FUNCTION__ << length;
    }
  };
  expect_forged(static_cast<std::string*>(nullptr));
  expect_forged(static_cast<std::vector<double>*>(nullptr));
  expect_forged(static_cast<std::vector<std::monostate>*>(nullptr));
  expect_forged(static_cast<std::vector<blank_form>*>(nullptr));
  expect_forged(static_cast<std::vector<std::string>*>(nullptr));
  expect_forged(static_cast<std::vector<cell>*>(nullptr));
  expect_forged(static_cast<std::list<char>*>(nullptr));
  expect_forged(static_cast<std::set<std::tuple<>>*>(nullptr));
  expect_forged(static_cast<std::unordered_map<char, std::monostate>*>(nullptr));
  expect_forged(static_cast<std::span<const std::byte>*>(nullptr));
}

TEST(archive_bounds, a_forged_length_of_bits_is_refused_without_allocating) {
  const bytes payload = forged(801, 100);
  const allocation_meter allocations;
  EXPECT_EQ(error_of<std::vector<bool>>(payload), wire_error::length_forged);
  EXPECT_EQ(allocations.peak_bytes(), 0u);
  EXPECT_EQ(error_of<std::vector<bool>>(forged(800, 100)), wire_error::none);
}

TEST(archive_bounds, a_length_that_just_fits_reserves_no_more_than_the_bytes_that_are_there) {
  struct wide {
    std::array<double, 512> numbers{};
    percentage checked;
    void serialize(reader& ar) { ar(checked); }
  };
  bytes payload = forged(100'000, 100'000);
  payload[4] = std::byte{200};  // the very first element is refused
  const allocation_meter allocations;
  EXPECT_EQ(error_of<std::vector<wide>>(payload), wire_error::rejected);
  EXPECT_LE(allocations.peak_bytes(), 110'000u);  // a reserve of the length would be 400 MB
}

TEST(archive_bounds, a_long_length_that_would_have_fitted_the_short_form_is_refused) {
  const bytes payload = pack(detail::length_escape, std::uint64_t{1}, 'x');
  EXPECT_EQ(error_of<std::string>(payload), wire_error::length_forged);
}

TEST(archive_bounds, a_bool_other_than_0_and_1_is_refused_wherever_it_stands) {
  const std::byte two{2};
  EXPECT_EQ(error_of<bool>({two}), wire_error::bad_enum_or_bool);
  EXPECT_EQ((error_of<std::array<bool, 2>>({std::byte{1}, two})), wire_error::bad_enum_or_bool);
  EXPECT_EQ((error_of<std::tuple<char, bool>>({two, two})), wire_error::bad_enum_or_bool);
  EXPECT_EQ(error_of<std::optional<char>>({two, two}), wire_error::bad_enum_or_bool);
  EXPECT_EQ(error_of<std::unique_ptr<char>>({two, two}), wire_error::bad_enum_or_bool);
  EXPECT_EQ(error_of<std::span<const bool>>(pack(std::string("\2"))), wire_error::bad_enum_or_bool);
  EXPECT_EQ(error_of<std::vector<bool>>(pack(std::uint32_t{3}, two << 2)), wire_error::bad_enum_or_bool);
  EXPECT_EQ(error_of<std::bitset<9>>({two, two}), wire_error::bad_enum_or_bool);
  EXPECT_EQ(error_of<std::vector<blank_form>>(pack(std::uint32_t{1}, two)), wire_error::bad_enum_or_bool);
}

TEST(archive_bounds, a_checked_enum_out_of_range_is_refused) {
  EXPECT_EQ(error_of<colour>({std::byte{3}}), wire_error::bad_enum_or_bool);
  EXPECT_EQ((error_of<std::map<colour, bool>>(pack(std::uint32_t{1}, '\7', true))), wire_error::bad_enum_or_bool);
}

TEST(archive_bounds, an_alternative_that_does_not_exist_is_refused) {
  using choice = std::variant<std::monostate, int>;
  EXPECT_EQ(error_of<choice>({std::byte{2}}), wire_error::bad_variant_index);
  EXPECT_EQ(error_of<choice>({std::byte{255}}), wire_error::bad_variant_index);
}

TEST(archive_bounds, a_repeated_key_is_refused_where_keys_are_unique) {
  const auto map_bytes = pack(std::multimap<char, char>{{'a', '1'}, {'a', '2'}});
  EXPECT_EQ((error_of<std::map<char, char>>(map_bytes)), wire_error::duplicate_key);
  EXPECT_EQ((error_of<std::unordered_map<char, char>>(map_bytes)), wire_error::duplicate_key);
  EXPECT_EQ((error_of<std::unordered_multimap<char, char>>(map_bytes)), wire_error::none);
  EXPECT_EQ(error_of<std::set<int>>(pack(std::vector{7, 7})), wire_error::duplicate_key);
  EXPECT_EQ(error_of<std::set<char>>(pack(std::string("aa"))), wire_error::duplicate_key);
}

TEST(archive_bounds, nesting_is_bounded_however_long_the_payload) {
  writer ar;
  for (int level = 0; level < 100'000; ++level) ar(0, true);
  EXPECT_EQ(unpack<tree>(ar.bytes()).error(), wire_error::too_deep);
  writer nested;
  for (int level = 0; level < 100'000; ++level) nested(0, false, std::uint32_t{1});
  EXPECT_EQ(unpack<tree>(nested.bytes()).error(), wire_error::too_deep);
}

TEST(archive_bounds, the_deepest_value_that_is_packed_can_be_read) {
  tree root;
  tree* last = &root;
  for (int level = 1; level < archive_depth_max / 2; ++level) {  // a level is a tree and a pointer
    last->left = std::make_unique<tree>();
    last = last->left.get();
  }
  const auto back = unpack<tree>(pack(root));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, root);
}

TEST(archive_bounds, after_an_error_every_read_yields_nothing_and_the_first_error_stays) {
  const bytes payload = pack('\2', std::string("never read"));
  reader ar{std::span<const std::byte>(payload)};
  bool broken = true;
  ar(broken);
  EXPECT_EQ(ar.error(), wire_error::bad_enum_or_bool);
  EXPECT_FALSE(broken);
  for (const type_case& type : rich_cases()) {
    EXPECT_TRUE(type.is_cleared_by(ar, rng(5))) << type.name;
    EXPECT_TRUE(ar.remaining() == 0 && ar.error() == wire_error::bad_enum_or_bool) << type.name;
  }
  std::span<const double> view;
  ar(view);
  EXPECT_TRUE(view.empty());
  EXPECT_FALSE(ar.finish());
  EXPECT_EQ(ar.error(), wire_error::bad_enum_or_bool);
}

TEST(archive_bounds, a_value_in_which_an_error_was_met_is_left_empty) {
  const auto expect_empty = [](auto value, const bytes& payload) {
    reader ar{std::span<const std::byte>(payload)};
    ar(value);
    EXPECT_FALSE(ar.ok());
    return value;
  };
  const bytes two = pack(std::uint32_t{2}, '\1', '\x65');  // the second percentage is out of range
  EXPECT_TRUE(expect_empty(std::vector<percentage>(3), two).empty());
  EXPECT_TRUE(expect_empty(std::list<percentage>(3), two).empty());
  EXPECT_TRUE(expect_empty(std::forward_list<percentage>(3), two).empty());
  EXPECT_TRUE((expect_empty(std::map<char, percentage>{{'a', {}}}, pack(std::uint32_t{1}, 'k', '\x65')).empty()));
  EXPECT_TRUE(expect_empty(std::vector<bool>(3), pack(std::uint32_t{3}, '\x0f')).empty());
  EXPECT_FALSE(expect_empty(std::optional<percentage>(percentage{}), pack(true, '\x65')));
  EXPECT_EQ(expect_empty(std::make_shared<percentage>(), pack(true, '\x65')), nullptr);
  EXPECT_EQ(expect_empty(std::tuple(7, true), pack(7, '\2')), std::tuple(0, false));
}

TEST(archive_bounds, a_load_function_may_refuse) {
  EXPECT_EQ(error_of<percentage>({std::byte{101}}), wire_error::rejected);
  EXPECT_EQ((error_of<std::vector<percentage>>(pack(std::uint32_t{2}, '\1', '\x65'))), wire_error::rejected);
}

TEST(archive_bounds, every_error_has_words) {
  for (int code = 0; code <= static_cast<int>(wire_error::trailing_bytes); ++code) {
    EXPECT_NE(describe(static_cast<wire_error>(code)), describe(static_cast<wire_error>(255))) << code;
  }
}

}  // namespace
}  // namespace nacre
