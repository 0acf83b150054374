// SPDX-License-Identifier: Apache-2.0
// The list of arrays.
#include "mobile/array/array_table.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/array/remote_elements.hpp"
#include "mobile/entry/object_functions.hpp"

namespace nacre {
namespace {

/// A small part leaves work for other workers; a large one costs less itself.
std::uint64_t places_a_part(const detail::array_layout& layout, const am_engine& messages) {
  const std::uint64_t places_each = layout.shape.count() / messages.size();
  return std::clamp<std::uint64_t>(places_each / (std::uint64_t{16} * messages.pool().workers()), 1,
                                   layout.dense ? 256 : 16);
}

}  // namespace

array_table::array_table(am_engine& messages, const nacre::homes& homes)
    : messages_(messages), homes_(homes), met_(messages.pool().thread_contexts().size()) {}

std::uint64_t array_table::open(const detail::array_layout& layout) {
  const std::uint64_t count = layout.shape.count(), first = next_first_;
  if (first > extents::count_max || count > extents::count_max - first) {
    throw usage_error("there are too few names left for an array of " + std::to_string(count) +
                      " places: all arrays of a job together have at most " + std::to_string(extents::count_max));
  }
  constexpr std::uint64_t block = remote_elements::block_size;                     // which no two arrays share
  next_first_ += (std::max<std::uint64_t>(count, 1) + block - 1) / block * block;  // without places it has a name too
  reopen(layout, {first, ++last_number_});
  return first;
}

void array_table::reopen(const detail::array_layout& layout, const numbers& numbers) {
  auto rule = std::make_shared<array_home>(layout, numbers.first, numbers.ordinal, places_a_part(layout, messages_),
                                           messages_.rank().value(), messages_.size(), part_runner_);
  const std::unique_lock lock(mutex_);
  arrays_.emplace(numbers.first, std::move(rule));
}

std::string array_table::describe(std::uint64_t first) const {
  const std::shared_ptr<array_home> array = find(first);
  if (array == nullptr) return "no array";
  const extents& shape = array->layout.shape;
  std::string text = "array " + std::to_string(array->ordinal) + ": ";
  for (std::size_t each = 0; each < shape.dimensions(); ++each) {
    text += (each == 0 ? "" : " x ") + std::to_string(shape[each]);
  }
  text += " of " + std::string(array->layout.type->name) + (array->layout.dense ? "" : ", sparse");
  if (array->layout.location == location_policy::of_program) return text;
  return text + ", location " + std::string(nacre::name_of(array->layout.location));
}

std::string array_table::name_of(object_id id) const {
  if (!id.is_element()) return name_of_object(nullptr, id);
  const std::shared_ptr<array_home> array = find(id);
  if (array == nullptr) return "an element of an array that has been destroyed";
  const std::string of_array = " of array " + std::to_string(array->ordinal);
  const std::optional<std::string> key = array->key_of(id);
  if (key && !key->empty()) return "key " + *key + of_array;
  const index index = array->layout.shape.place_of(number_of(id) - array->first);
  std::string text = "element [";
  for (std::size_t each = 0; each < index.dimensions(); ++each)
    text += (each == 0 ? "" : ", ") + std::to_string(index[each]);
  text += "]" + of_array;
  return key ? text + ", whose key this rank does not know or cannot print (operator<<)" : text;
}

std::shared_ptr<array_home> array_table::close(std::uint64_t first) {
  std::shared_ptr<array_home> closed;
  {
    const std::unique_lock lock(mutex_);
    const auto match = arrays_.find(first);
    if (match == arrays_.end()) return nullptr;
    closed = std::move(match->second);
    arrays_.erase(match);
  }
  closed->forget_keys();
  return closed;
}

std::shared_ptr<array_home> array_table::find(std::uint64_t number) const {
  const std::shared_lock lock(mutex_);
  const auto next = arrays_.upper_bound(number);
  if (next == arrays_.begin()) return nullptr;
  const std::shared_ptr<array_home>& array = std::prev(next)->second;
  const std::uint64_t places = std::max<std::uint64_t>(array->layout.shape.count(), 1);
  return number - array->first < places ? array : nullptr;
}

std::optional<index> array_table::place_of(const thread_context& thread, object_id element) {
  if (!element.is_element()) return std::nullopt;
  const std::uint64_t number = number_of(element);
  met_array& met = met_[thread.id().value()];
  if (number < met.first || number - met.first >= met.shape.count()) {
    const std::shared_ptr<array_home> array = find(number);
    if (array == nullptr) return std::nullopt;
    met = {array->first, array->layout.shape};
  }
  return met.shape.place_of(number - met.first);
}

std::optional<array_table::element_numbers> array_table::numbers_of(object_id element) const noexcept {
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !element.is_element()) return std::nullopt;
  const auto next = arrays_.upper_bound(number_of(element));
  if (next == arrays_.begin()) return std::nullopt;
  const array_home& array = *std::prev(next)->second;
  const std::uint64_t number = number_of(element) - array.first;
  if (number >= array.layout.shape.count()) return std::nullopt;
  return element_numbers{array.ordinal, array.layout.shape.place_of(number)};
}

bool array_table::is_home_of(const array_home& array, std::uint64_t number) const {
  if (number >= array.layout.shape.count()) return false;
  const rank_id birth = array.birth_of(number);
  return birth.value() < array.layout.ranks && homes_.home_is_here(array.name_of(number, birth));
}

object_id array_table::name_at_home(const array_home& array, std::uint64_t number) const {
  return array.name_of(number, homes_.reckoned() ? array.birth_of(number) : messages_.rank());
}

bool array_table::is_retired(object_id id) const {
  const std::shared_ptr<array_home> array = find(id);
  if (array == nullptr) return false;
  const std::uint64_t number = number_of(id) - array->first;
  const std::scoped_lock lock(array->mutex);
  return array->has_retired(number, number);
}

bool array_table::has_retired_block(object_id id) const {
  const std::shared_ptr<array_home> array = find(id);
  if (array == nullptr) return false;
  const std::uint64_t number = number_of(id) - array->first, begin = number - number % names_a_block;
  const std::scoped_lock lock(array->mutex);
  return array->has_retired(begin, begin + names_a_block - 1);
}

std::vector<detail::section_part> array_table::divided(const array_home& array,
                                                       std::span<const detail::section_part> parts) const {
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_home;
  for (const detail::section_part& part : parts) {
    for (const std::uint64_t number : part.numbers) {
      if (part.rank >= array.layout.ranks || number >= array.layout.shape.count())
        throw usage_error("a nacre::section of another array, or of a job with more ranks");
      by_home[homes_.home_of(array.name_of(number, rank_id(part.rank))).value()].push_back(number);
    }
  }
  std::vector<detail::section_part> all;
  for (auto& [home, numbers] : by_home) {
    std::sort(numbers.begin(), numbers.end());
    all.push_back({home, std::move(numbers)});
  }
  return all;
}

}  // namespace nacre
