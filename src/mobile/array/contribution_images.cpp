// SPDX-License-Identifier: Apache-2.0
// Steps of contributions that are open while objects are held, and in images.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mobile/array/contributions.hpp"
#include "mobile/image/image_names.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

std::uint64_t contributions::lying() {
  std::uint64_t sum = 0;
  space_.arrays().for_each([&](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([&](const set_ptr& set) { sum += set->steps.waiting(); });
  });
  return sum;
}

std::vector<steps_image> contributions::save() const {
  std::vector<steps_image> all;
  space_.arrays().for_each([&](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([&](const set_ptr& set) {
      // Places whose values are in sums that have gone up would be waited for again.
      if (set->steps.waiting() != 0 && set->steps.has_forgotten())
        throw image_obstacle("an array whose open steps of contributions lie among more than 1,024 gaps");
      steps_image one;
      set->steps.save(one);
      if (one.open.empty() && one.over.empty()) return;
      one.first = array.first;
      one.section = set->section;
      one.places = array.sets.places_of(*set);
      all.push_back(std::move(one));
    });
  });
  return all;
}

void contributions::begin_restore() {
  space_.arrays().for_each([](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([](const set_ptr& set) { set->steps.add_unsettled(1); });
  });
}

void contributions::end_restore(thread_context& thread) {
  std::vector<std::uint64_t> arrays;
  space_.arrays().for_each([&](const array_home& array) { arrays.push_back(array.first); });
  for (const std::uint64_t first : arrays) {
    const array_ptr array = space_.arrays().find(first);
    std::vector<contributing_sets::consequence> all;
    {
      const std::scoped_lock lock(array->steps_mutex);
      array->sets.for_each(
          [&](const set_ptr& set) { set->steps.settled(all.emplace_back(set, steps::effects()).then); });
    }
    apply(thread, array, std::move(all));
  }
}

bool contributions::restore(thread_context& thread, const steps_image::step& given) {
  const array_ptr array = space_.arrays().find(given.head.first);
  if (array == nullptr || array->first != given.head.first) return false;
  set_ptr set;
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set = array->sets.find(given.head.section);
    if (set == nullptr) return false;
    for (const steps_image::value& each : given.values)
      set->steps.restore(array->sets.contributor_of(each.place), given.head, std::span(each.bytes), then);
    for (const std::uint64_t place : given.in_sum)
      set->steps.restore(array->sets.contributor_of(place), given.head, std::nullopt, then);
    thread.counters().created.add(then.opened);
  }
  apply(thread, array, set, std::move(then));
  return true;
}

}  // namespace nacre
