// SPDX-License-Identifier: Apache-2.0
// The arrays of one rank: their numbers, names and layouts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "base/cache_line.hpp"
#include "mobile/array/array_home.hpp"
#include "mobile/array/remote_elements.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/entry/object_functions.hpp"

namespace nacre {

/// Every rank knows every array, because making one is collective. The numbers of an array's places follow those of the
/// previous array, so all ranks count alike, and no number is given to two arrays.
class array_table final : public object_names {
 public:
  array_table(am_engine& messages, const nacre::homes& homes);

  /// Makes this rank's part of the next array; returns its first number. Throws usage_error when numbers have run out.
  [[nodiscard]] std::uint64_t open(const detail::array_layout& layout);
  /// The numbers of the next array: its first place, and how many arrays have been made before it.
  struct numbers {
    std::uint64_t first, ordinal;
  };
  [[nodiscard]] numbers next_numbers() const noexcept { return {next_first_, last_number_}; }
  /// Makes this rank's part of an array of an image, with the numbers that it had.
  void reopen(const detail::array_layout& layout, const numbers& numbers);
  /// Further arrays are numbered from here on.
  void go_on_from(const numbers& next) noexcept {
    next_first_ = next.first;
    last_number_ = next.ordinal;
  }
  /// All ranks have made their parts of the arrays that this rank has opened.
  void note_agreed() noexcept {
    agreed_below_.store(next_first_, std::memory_order_release);  // pairs with the load in known_everywhere
  }
  /// Whether every rank is certain to know the array of an element. Before that the element must not leave by itself:
  /// it could come to a rank that has not reached create_array. Any thread.
  [[nodiscard]] bool known_everywhere(object_id element) const noexcept {
    // acquire: pairs with the store in note_agreed; where the element goes, the array has been opened before.
    return number_of(element) < agreed_below_.load(std::memory_order_acquire);
  }
  /// Names the runner of the parts of all arrays. Before there is an array.
  void run_parts_by(const array_part::run_by& runner) noexcept { part_runner_ = runner; }

  /// A text on which the ranks must agree when they make or end an array.
  [[nodiscard]] std::string describe(std::uint64_t first) const;
  /// The name of an object for people: "element [3, 5] of array 2", or "object 0:17" if it is no element.
  [[nodiscard]] std::string name_of(object_id id) const override;
  struct element_numbers {
    std::uint64_t array;  ///< from 1, in the order in which arrays are made
    index place;
  };
  /// The place of an element, for the handler of a signal: takes no memory, and waits for no thread. Nothing when there
  /// is no such array, or while arrays are made or ended.
  [[nodiscard]] std::optional<element_numbers> numbers_of(object_id element) const noexcept;
  /// Takes an array from the list; it lives until its last message is done. Null: there is none.
  std::shared_ptr<array_home> close(std::uint64_t first);

  /// The place of an element of an array that lives; nothing if it is none. `thread`: the running thread context.
  [[nodiscard]] std::optional<index> place_of(const thread_context& thread, object_id element);

  /// The array of an element; null when there is none. Any thread.
  [[nodiscard]] std::shared_ptr<array_home> find(object_id element) const { return find(number_of(element)); }
  [[nodiscard]] std::shared_ptr<array_home> find(std::uint64_t number) const;
  /// Calls visit(array_home&) for each array. While nothing runs.
  template <class Visit>
  void for_each(Visit visit) const {
    std::vector<std::shared_ptr<array_home>> all;  // visited without the lock, which `find` takes
    {
      const std::shared_lock lock(mutex_);
      all.reserve(arrays_.size());
      for (const auto& [first, array] : arrays_) all.push_back(array);
    }
    for (const auto& array : all) visit(*array);
  }
  [[nodiscard]] static std::uint64_t number_of(object_id element) noexcept {
    return element.index() - object_id::first_element;
  }

  /// Whether this rank is the home of a place that a peer names by number.
  [[nodiscard]] bool is_home_of(const array_home& array, std::uint64_t number) const;
  /// The name of a place that has its home on this rank. Asks the placement only where homes are reckoned.
  [[nodiscard]] object_id name_at_home(const array_home& array, std::uint64_t number) const;
  /// Whether a place gets no element any more, because the key that it was given to has been forgotten.
  [[nodiscard]] bool is_retired(object_id id) const;
  /// Whether all places in the block of names of this element are retired: none of them gets an element any more.
  [[nodiscard]] bool has_retired_block(object_id id) const;
  /// Divides the places of a section, which are given by their births, among their homes: the result has the home in
  /// place of the birth. Throws usage_error for places that the array does not have.
  [[nodiscard]] std::vector<detail::section_part> divided(const array_home& array,
                                                          std::span<const detail::section_part> parts) const;

 private:
  am_engine& messages_;
  const nacre::homes& homes_;
  array_part::run_by part_runner_;
  /// The array that a thread context has looked up last. It never becomes wrong, because no number is given to two
  /// arrays.
  struct alignas(cache_line_bytes) met_array {
    std::uint64_t first = 0;
    extents shape;
  };
  std::vector<met_array> met_;  // of each thread context
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<array_home>> arrays_;  // under mutex_; by first number
  std::uint64_t next_first_ = remote_elements::block_size;       // by the application's thread
  std::uint64_t last_number_ = 0;                                // by the application's thread
  std::atomic<std::uint64_t> agreed_below_{1};                   // numbers of arrays that all ranks have opened
};

}  // namespace nacre
