// SPDX-License-Identifier: Apache-2.0
// The types that may be packed, the types that are refused at compile time, and the types that take the fast paths.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <coroutine>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/archive/held_addresses.hpp>
#include <nacre/ids.hpp>

#include "wire/archive_test_types.hpp"

namespace nacre {
namespace {

using namespace test;

template <class... Ts>
inline constexpr bool none_serializable = !(serializable<Ts> || ...);
template <class... Ts>
inline constexpr bool all_serializable = (serializable<Ts> && ...);

struct shape {
  virtual ~shape() = default;
  template <class Archive>
  void serialize(Archive&) {}
};
struct square final : shape {};

struct private_data {
 private:
  std::string text_;
};

/// Trivially copyable, with a private serialize; but its author forgot to make archive_access a friend.
class unbefriended {
 public:
  [[nodiscard]] bool flag() const { return flag_; }

 private:
  template <class Archive>
  void serialize(Archive& ar) {
    ar(flag_);
  }
  bool flag_ = false;
};

/// Trivially copyable; its serialize has the signature of another library.
struct versioned {
  int value = 0;
  template <class Archive>
  void serialize(Archive& ar, unsigned version) {
    ar(value, version);
  }
};

class hidden {
 private:
  template <class Archive>
  void serialize(Archive&) {}
  std::string text_;
};

[[maybe_unused]] auto capturing(int& n) {
  return [&n] { return n; };
}
using closure = decltype(capturing(std::declval<int&>()));

TEST(archive_traits, addresses_are_refused_wherever_they_can_be_seen) {
  EXPECT_TRUE((none_serializable<int*, const char*, int shape::*, void (*)(), void (shape::*)(), std::nullptr_t>));
  EXPECT_TRUE(
      (none_serializable<std::tuple<int, int*>, std::pair<char, void*>, std::tuple<int&>, std::array<int*, 2>>));
  EXPECT_TRUE((none_serializable<std::vector<int*>, std::map<int, int*>, std::optional<int*>, int* [3]>));
  EXPECT_TRUE((none_serializable<std::variant<int, int*>, std::unique_ptr<int*>, std::span<int*>>));
  EXPECT_TRUE((none_serializable<std::reference_wrapper<int>, std::initializer_list<int>, std::coroutine_handle<>>));
  EXPECT_TRUE((none_serializable<std::vector<int>::iterator, std::map<int, int>::iterator, closure>));
}

TEST(archive_traits, what_does_not_say_how_it_is_packed_is_refused) {
  EXPECT_TRUE((none_serializable<private_data, hidden, std::vector<private_data>, std::function<void()>>));
  EXPECT_TRUE((none_serializable<std::mutex, std::weak_ptr<int>, std::unique_ptr<int[]>, std::thread>));
  EXPECT_TRUE((none_serializable<std::filesystem::path, std::span<std::string>, void>));
}

TEST(archive_traits, a_class_with_a_serialize_that_cannot_be_called_is_not_taken_as_its_bytes) {
  EXPECT_TRUE((none_serializable<unbefriended, versioned, std::vector<unbefriended>>));
  EXPECT_TRUE((all_serializable<particle, sealed>));
}

TEST(archive_traits, a_pointer_to_a_base_class_is_refused_since_it_would_be_sliced) {
  EXPECT_TRUE((none_serializable<std::unique_ptr<shape>, std::shared_ptr<shape>>));
  EXPECT_TRUE(serializable<std::unique_ptr<square>>);
}

TEST(archive_traits, std_types_of_packable_types_are_packable) {
  for_each_type(rich_types{}, []<class T>() { EXPECT_TRUE(serializable<T>) << __PRETTY_FUNCTION__; });
  EXPECT_TRUE((all_serializable<std::span<const int>, std::string_view, std::span<double>, rank_id, object_id>));
}

TEST(archive_traits, numbers_and_arrays_of_them_are_copied_in_one_piece) {
  EXPECT_TRUE((detail::block<std::vector<double>> && detail::block<std::string>));
  EXPECT_TRUE((detail::block<std::vector<std::complex<double>>> && detail::block<std::vector<particle>>));
  EXPECT_TRUE((detail::block<std::vector<std::array<double, 3>>> && detail::block<std::vector<std::chrono::seconds>>));
  EXPECT_FALSE((detail::block<std::vector<bool>> || detail::block<std::vector<std::array<bool, 2>>>));
  EXPECT_FALSE((detail::block<std::vector<colour>> || detail::block<std::vector<std::optional<int>>>));
}

TEST(archive_traits, a_tuple_of_numbers_is_written_without_a_check_for_each) {
  EXPECT_EQ((detail::flat_size<std::tuple<char, std::pair<int, bool>, std::array<colour, 2>>>()), 8u);
  EXPECT_FALSE((detail::flat<std::tuple<int, std::string>> || detail::flat<cell> || detail::flat<std::optional<int>>));
}

namespace with_addresses {
struct first {
  int* p;
  int n;
};
struct last {
  double numbers[3];
  bool flag;
  const char* text;
};
struct nested {
  int number;
  first inner;
};
struct derived : first {
  int more;
};
struct several {
  std::array<double, 3> numbers;
  int* places[2];
};
struct linked {
  linked* next;
};
struct calling {
  void (*function)(int);
};
}  // namespace with_addresses
namespace without_addresses {
struct numbers {
  bool flag;
  unsigned char octet;
  char name[16];
  unsigned bits : 3;
  std::complex<double> z;
  std::chrono::nanoseconds time;
};
struct names {
  rank_id rank;
  object_id object;
  std::array<numbers, 2> all;
};
struct nothing {};
}  // namespace without_addresses

TEST(archive_traits, pointers_among_the_members_of_a_class_without_serialize_are_seen) {
  using detail::holds_addresses;
  using namespace with_addresses;
  EXPECT_TRUE(holds_addresses<first> && holds_addresses<last> && holds_addresses<nested> && holds_addresses<derived> &&
              holds_addresses<several> && holds_addresses<linked> && holds_addresses<calling>);
  using in_a_tuple = std::tuple<int, std::vector<first>>;
  EXPECT_TRUE(holds_addresses<in_a_tuple>);
  EXPECT_FALSE(holds_addresses<without_addresses::numbers> || holds_addresses<without_addresses::names> ||
               holds_addresses<without_addresses::nothing> || holds_addresses<std::string>);
  using harmless_tuple = std::tuple<int, double, std::vector<int>, without_addresses::names>;
  EXPECT_FALSE(holds_addresses<harmless_tuple>);
}

}  // namespace
}  // namespace nacre
