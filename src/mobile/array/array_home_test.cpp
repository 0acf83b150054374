// SPDX-License-Identifier: Apache-2.0
// A rank's part of an array keeps the entry of each place in the part that the place belongs to.
#include <nacre/rng.hpp>

#include "mobile/array/array_home.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "am/handler_table.hpp"
#include "mobile/entry/object_entry.hpp"

namespace nacre {
namespace {

void runs_no_part(work&, thread_context&) {}

std::unique_ptr<object_entry> entry_of_place(std::uint64_t number) {
  static_cast<void>(handler_table::get());
  return std::make_unique<object_entry>(object_id(rank_id(0), object_id::first_element + number),
                                        known_location{rank_id(0), 1}, &runs_no_part);
}

/// Places 100 to 122, in parts of 8 or fewer, noted in any order.
TEST(array_home, holds_each_noted_place_once_in_its_part) {
  constexpr std::uint64_t first = 100, count = 23, a_part = 8;
  rng random(11);
  for (int round = 0; round < 50; ++round) {
    detail::array_layout layout{.shape = extents{count}};
    array_home under_test(layout, first, 1, a_part, 0, 1, {&runs_no_part, nullptr});
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    order.resize(random.below(count + 1));
    std::vector<std::unique_ptr<object_entry>> entries(count);
    for (const std::uint64_t number : order) {
      entries[number] = entry_of_place(first + number);
      const std::scoped_lock lock(under_test.mutex);
      under_test.note_place(number, *entries[number]);
    }
    std::size_t noted = 0;
    for (const auto& [index, part] : under_test.parts) {
      ASSERT_EQ(part->first_number, index * a_part);
      ASSERT_EQ(part->places.size(), std::min(a_part, count - part->first_number));
      for (std::size_t place = 0; place < part->places.size(); ++place) {
        const object_entry* const wanted = entries[part->first_number + place].get();
        ASSERT_EQ(part->places[place].load(), wanted);
        noted += wanted != nullptr ? 1 : 0;
      }
    }
    ASSERT_EQ(noted, order.size());
  }
}

}  // namespace
}  // namespace nacre
