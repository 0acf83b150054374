// SPDX-License-Identifier: Apache-2.0
// Dividing the names of earlier lives among the ranks of the present one.
#include "mobile/directory/resized_homes.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

/// The rank of block number `block` of `blocks`, where they are shared out to `ranks` in runs.
rank_id share_of(std::uint64_t block, std::uint64_t blocks, std::uint32_t ranks) noexcept {
  __extension__ using wide = unsigned __int128;
  return rank_id(static_cast<std::uint32_t>(static_cast<wide>(block) * ranks / blocks));
}

}  // namespace

resized_homes::resized_homes(std::uint32_t ranks, earlier_names given) : ranks_(ranks), given_(std::move(given)) {
  blocks_before_.reserve(given_.last_indices.size() + 1);
  std::uint64_t blocks = 0;
  for (const std::uint64_t last : given_.last_indices) {
    NACRE_EXPECT(last < object_id::first_element, "an object's index is that of an element");
    blocks_before_.push_back(blocks);
    blocks += last == 0 ? 0 : last / names_a_block + 1;
  }
  blocks_before_.push_back(blocks);
  for (std::size_t each = 0; each < given_.arrays.size(); ++each) {
    const earlier_names::array& array = given_.arrays[each];
    NACRE_EXPECT(array.first % names_a_block == 0, "an array begins within a block of names");
    NACRE_EXPECT(each == 0 || given_.arrays[each - 1].first + given_.arrays[each - 1].places <= array.first,
                 "arrays of an image overlap, or are not in order");
  }
}

const earlier_names::array* resized_homes::array_of(std::uint64_t number) const noexcept {
  const auto next =
      std::upper_bound(given_.arrays.begin(), given_.arrays.end(), number,
                       [](std::uint64_t index, const earlier_names::array& each) { return index < each.first; });
  if (next == given_.arrays.begin()) return nullptr;
  const earlier_names::array& array = *std::prev(next);
  return number - array.first < array.places ? &array : nullptr;
}

rank_id resized_homes::home_of(object_id id) const noexcept {
  if (id.is_element()) {
    const std::uint64_t number = id.index() - object_id::first_element;
    const earlier_names::array* const array = array_of(number);
    if (array == nullptr) return id.birth();
    if (array->keyed) return rank_id(id.birth().value() % ranks_);
    const std::uint64_t blocks = (array->places + names_a_block - 1) / names_a_block;
    return share_of((number - array->first) / names_a_block, blocks, ranks_);
  }
  const std::size_t birth = id.birth().value();
  if (birth >= given_.last_indices.size() || id.index() > given_.last_indices[birth]) return id.birth();
  return share_of(blocks_before_[birth] + id.index() / names_a_block, blocks_before_.back(), ranks_);
}

object_id resized_homes::new_name(rank_id home, std::uint64_t index) const {
  const std::size_t birth = home.value();
  NACRE_EXPECT(birth >= given_.last_indices.size() || index > given_.last_indices[birth], "a name is given twice");
  return {home, index};
}

}  // namespace nacre
