// SPDX-License-Identifier: Apache-2.0
// Sections: some places of an array, to send to, call and reduce over.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/array.hpp>
#include <nacre/core.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// The places first, first + stride, ... before `last` in each dimension, where last is not included. Each stride is at
/// least 1; the three indices have the dimensions of the array.
struct index_range {
  index first, last, stride;
};

namespace detail {

/// The places of a section that have their birth on one rank, by number, ascending. Homes are asked for when a message
/// leaves for the section: in a job restored on another number of ranks they are others.
struct section_part {
  std::uint32_t rank = 0;
  std::vector<std::uint64_t> numbers;
  friend bool operator==(const section_part&, const section_part&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(rank, numbers);
  }
};

/// The part of a section for which its elements contribute, as one rank gets it.
struct section_on_rank {
  std::uint64_t first = 0;    ///< the array
  std::uint64_t section = 0;  ///< the number of the section
  std::uint32_t root = 0;     ///< as section_ptr names it; modulo the number of ranks the root of the tree
  std::uint32_t parent = 0;   ///< in the tree of the root and the ranks that are home of places; the root's: itself
  std::vector<std::uint32_t> children{};
  std::vector<std::uint64_t> places{};  ///< that have their home on the rank, by number
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first, section, root, parent, children, places);
  }
};

// src/runtime/api/arrays.cpp. `m`: the message for each element.
void post_to_section(engine& core, thread_context& thread, const array_request& request,
                     std::span<const section_part> parts, message_ptr m);
/// Throws usage_error for a range that does not fit the shape, else calls visit with each of its places.
void visit_range(const extents& shape, const index_range& range, const std::function<void(const index&)>& visit);

}  // namespace detail

/// Names a section for whose steps elements contribute: a small value, comparable and serializable, which
/// create_section makes. Messages may carry it, and elements keep it.
class section_ptr {
 public:
  section_ptr() = default;
  /// For the runtime: see operations::create_section.
  section_ptr(std::uint64_t array, std::uint64_t number, rank_id root) noexcept
      : array_(array), number_(number), root_(root) {}
  /// For the runtime: the first number of the array, the number of the section, and the root of the section's tree of
  /// ranks. The root is to be taken modulo the number of ranks of the job.
  [[nodiscard]] std::uint64_t array() const noexcept { return array_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] rank_id root() const noexcept { return root_; }
  explicit operator bool() const noexcept { return number_ != 0; }
  friend bool operator==(const section_ptr&, const section_ptr&) = default;
  friend auto operator<=>(const section_ptr&, const section_ptr&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(array_, number_, root_);
  }

 private:
  std::uint64_t array_ = 0, number_ = 0;
  rank_id root_;
};

namespace detail {
// Handlers; src/runtime/api/sections.cpp.
task<section_ptr> open_section(context& ctx, std::uint64_t first, std::vector<section_part> parts);
task<void> close_section(context& ctx, std::uint64_t first, std::uint64_t section);
}  // namespace detail

/// A set of places of an array: a value that may be sent and kept. It takes memory for its places; no rank but those
/// that are home of its places hears of what is sent to it. Making it from a predicate looks at every place of the
/// array, the other ways at its own places only.
template <class T, class P = by_block>
class section {
 public:
  section() = default;
  /// The places of a list, in any order; a place that is listed twice counts once. Throws usage_error for an index that
  /// the array does not have.
  section(const array_ptr<T, P>& array, const std::vector<index>& places) : array_(array) {
    for (const index& each : places) add(each);
    finish();
  }
  /// The places of a range. Throws usage_error when it lies outside of the array.
  section(const array_ptr<T, P>& array, const index_range& range) : array_(array) {
    detail::visit_range(array.shape(), range, [this](const index& index) { add(index); });
    finish();
  }
  /// The places for which `contains(index)` is true.
  template <class Predicate>
  requires std::predicate<Predicate&, const index&> section(const array_ptr<T, P>& array, Predicate contains)
      : array_(array) {
    for (std::uint64_t number = 0; number < array.shape().count(); ++number) {
      const index position = array.shape().place_of(number);
      if (contains(position)) add(position);
    }
    finish();
  }

  [[nodiscard]] const array_ptr<T, P>& array() const noexcept { return array_; }
  /// The number of its places.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t all = 0;
    for (const detail::section_part& each : parts_) all += each.numbers.size();
    return all;
  }
  /// Whether the section has this place. Throws usage_error when the array has no such place.
  [[nodiscard]] bool contains(const index& index) const {
    const std::uint64_t number = array_.shape().number_of(index);
    const std::uint32_t birth = array_.home_of(index).value();
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const auto& each) { return each.rank == birth; });
    return part != parts_.end() && std::binary_search(part->numbers.begin(), part->numbers.end(), number);
  }
  /// Its places, rank by rank, on each rank in the order of the places: the order in which reduce combines results, as
  /// long as the job has not been restored on another number of ranks.
  [[nodiscard]] std::vector<index> places() const {
    std::vector<index> all;
    for (const detail::section_part& each : parts_) {
      for (const std::uint64_t number : each.numbers) all.push_back(array_.shape().place_of(number));
    }
    return all;
  }
  /// For the runtime.
  [[nodiscard]] std::span<const detail::section_part> parts() const noexcept { return parts_; }
  friend bool operator==(const section&, const section&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(array_, parts_);
  }

 private:
  void add(const index& index) { by_birth_[array_.home_of(index).value()].push_back(array_.shape().number_of(index)); }
  void finish() {
    for (auto& [birth, numbers] : by_birth_) {
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      parts_.push_back({birth, std::move(numbers)});
    }
    by_birth_.clear();
  }

  array_ptr<T, P> array_;
  std::vector<detail::section_part> parts_;                         // by rank, ascending
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_birth_{};  // while it is made
};

}  // namespace nacre
