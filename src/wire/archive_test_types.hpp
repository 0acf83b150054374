// SPDX-License-Identifier: Apache-2.0
// The types that the archive's tests and fuzzers share: every way of being packable, and nestings of them.
#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/archive.hpp>

namespace nacre::test {

/// Trivially copyable and without a serialize: packed as its bytes.
struct particle {
  double x = 0;
  float mass = 0;
  std::int32_t charge = 0;
  friend bool operator==(const particle&, const particle&) = default;
};

/// A member serialize, as cereal has it.
struct cell {
  std::vector<double> u;
  int steps = 0;
  std::string name;
  bool frozen = false;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(u, steps, name, frozen);
  }
  friend bool operator==(const cell&, const cell&) = default;
};

/// Recursive in two ways.
struct tree {
  int value = 0;
  std::unique_ptr<tree> left;
  std::vector<tree> more;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value, left, more);
  }
  friend bool operator==(const tree& a, const tree& b) {
    const bool same_left = (a.left == nullptr) == (b.left == nullptr) && (a.left == nullptr || *a.left == *b.left);
    return a.value == b.value && same_left && a.more == b.more;
  }
};

/// Private members and no default constructor.
class sealed {
 public:
  explicit sealed(int value) : value_(value) {}
  explicit sealed(deserialize_tag) {}
  friend bool operator==(const sealed&, const sealed&) = default;
  friend bool operator<(const sealed& a, const sealed& b) { return a.value_ < b.value_; }

 private:
  friend class nacre::archive_access;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value_);
  }
  int value_ = 0;
};

/// Split into save and load; load refuses values that save never writes.
struct percentage {
  int value = 0;
  template <class Archive>
  void save(Archive& ar) const {
    ar(static_cast<std::int8_t>(value));
  }
  template <class Archive>
  void load(Archive& ar) {
    std::int8_t small = 0;
    ar(small);
    if (small < 0 || small > 100) ar.fail();
    value = ar.ok() ? small : 0;
  }
  friend bool operator==(const percentage&, const percentage&) = default;
};

/// Packed by a free function, which argument-dependent lookup finds.
struct segment {
  std::pair<int, int> ends;
  std::string label;
  friend bool operator==(const segment&, const segment&) = default;
};
template <class Archive>
void serialize(Archive& ar, segment& s) {
  ar(s.ends, s.label);
}

/// Packed by a pair of free functions.
struct shout {
  std::string text;
  friend bool operator==(const shout&, const shout&) = default;
};
template <class Archive>
void save(Archive& ar, const shout& s) {
  ar(s.text + "!");
}
template <class Archive>
void load(Archive& ar, shout& s) {
  ar(s.text);
  if (s.text.empty() || s.text.back() != '!') return ar.fail();
  s.text.pop_back();
}

/// Has a serialize that packs nothing.
struct blank_form {
  template <class Archive>
  void serialize(Archive&) {}
  friend bool operator==(const blank_form&, const blank_form&) = default;
  friend auto operator<=>(const blank_form&, const blank_form&) = default;
};

enum class colour : std::uint8_t { red, green, blue };
constexpr bool wire_valid(colour c) { return c <= colour::blue; }

enum class plain_enum : std::uint16_t { a, b };

template <class... Ts>
struct type_list {
  static constexpr std::size_t count = sizeof...(Ts);
};

/// Calls visit.operator()<T>() for every type of the list.
template <class... Ts>
void for_each_type(type_list<Ts...>, auto&& visit) {
  (visit.template operator()<Ts>(), ...);
}

/// One type of every kind that has no views in it.
using rich_types = type_list<
    bool, char, std::int64_t, double, plain_enum, colour, std::byte, particle, std::monostate, std::complex<float>,
    std::chrono::nanoseconds, std::array<int, 3>, std::array<bool, 5>, std::array<std::string, 2>, std::bitset<13>,
    std::bitset<64>, std::pair<char, bool>, std::tuple<std::int8_t, std::int64_t, bool, colour>, std::tuple<>,
    std::string, std::u16string, std::vector<double>, std::vector<char>, std::vector<bool>, std::vector<particle>,
    std::vector<std::string>, std::vector<std::vector<std::int16_t>>, std::vector<std::pair<int, bool>>,
    std::vector<std::array<bool, 3>>, std::vector<std::monostate>, std::vector<blank_form>, std::vector<std::tuple<>>,
    std::deque<std::uint16_t>, std::list<std::string>, std::forward_list<std::optional<int>>,
    std::map<std::string, std::vector<int>>, std::multimap<int, bool>, std::unordered_map<int, std::string>,
    std::unordered_multimap<char, char>, std::set<std::string>, std::multiset<int>, std::unordered_set<std::int8_t>,
    std::unordered_multiset<std::string>, std::map<colour, percentage>, std::set<blank_form>, std::optional<double>,
    std::optional<std::string>, std::variant<std::monostate, int, std::string, std::vector<bool>>,
    std::unique_ptr<std::string>, std::shared_ptr<cell>, cell, tree, sealed, percentage, segment, shout, blank_form,
    std::vector<cell>, std::vector<sealed>, std::list<sealed>, std::map<sealed, sealed>, std::optional<sealed>,
    std::variant<sealed, shout>, std::tuple<sealed, int>, std::array<sealed, 2>,
    std::vector<std::variant<segment, std::unique_ptr<tree>>>,
    std::map<std::string, std::map<std::string, std::vector<std::optional<cell>>>>>;

}  // namespace nacre::test
