// SPDX-License-Identifier: Apache-2.0
// The elements of arrays as they are made, and what a rank forgets of arrays and their places.
#include "mobile/elements/array_lifetime.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "mobile/directory/epoch_guard.hpp"
#include "mobile/elements/broadcasts.hpp"
#include "mobile/entry/empty_element.hpp"

namespace nacre {

void array_lifetime::adopt_element(thread_context& thread, std::uint64_t number, void* object) {
  const std::shared_ptr<array_home> array = arrays_.find(number);
  object_state state;
  state.object = object;
  state.type = array->layout.type;
  state.policy = rules_.meant(array->layout.location);
  const epoch_guard guard(thread);
  adopt_element(thread, arrays_.name_at_home(*array, number - array->first), std::move(state));
}

void array_lifetime::adopt_element(thread_context& thread, object_id id, object_state state) {
  const std::uint64_t number = array_table::number_of(id);
  const std::shared_ptr<array_home> array = arrays_.find(number);
  object_entry& entry =
      creation_.install(thread, id, std::move(state));  // runs code of the class, hence without the mutex
  contributions_.element_came(*array, number - array->first);
  const std::scoped_lock lock(array->mutex);
  array->note_place(number - array->first, entry);
}

bool array_lifetime::retire_place(thread_context& thread, object_id id, std::span<const detail::sent_count> counts) {
  const epoch_guard guard(thread);
  const std::shared_ptr<array_home> array = arrays_.find(id);
  if (array == nullptr || !homes_.home_is_here(id)) return false;
  object_entry* entry = entries_.find(id);
  if (entry == nullptr) entry = numbers_.place_at_home(id);  // a job that goes on from an image has no empty places
  if (entry == nullptr || !entry->arrivals.begin_idle()) return false;
  const bool begun = entry->object() != nullptr || places_.begin_place(*entry);
  const bool has_all = std::ranges::all_of(counts, [&](const detail::sent_count& sent) {
    object_entry_extra* const extra = entry->extra();
    if (extra == nullptr) return entry->order.has_admitted(sent.rank, sent.count);
    return entry->all_streams().next_of(sent.rank) == sent.count;
  });
  if (!begun || !is_empty_place(*entry) || !has_all) {
    activation_.finish_step(*entry, thread, may_run::no);
    return false;
  }
  std::shared_ptr<array_part> part;
  {
    const std::scoped_lock lock(array->mutex);
    part = array->retire_place(array_table::number_of(id) - array->first);
  }
  if (part != nullptr) broadcasts::retire(thread, std::move(part));
  activation_.push_notice(*entry, thread, news_of_end, messages_.rank());
  activation_.finish_step(*entry, thread, may_run::no);
  return true;
}

void array_lifetime::forget_block(thread_context& thread, object_id id) {
  const epoch_guard guard(thread);
  numbers_.remote().forget_block(
      id,
      [&](object_id element) {
        if (object_entry* const entry = entries_.find(element)) entries_.forget(*entry, thread);
      },
      [&](void* gone, void (*destroy)(void*)) { thread.reader().retire(gone, destroy); });
}

void array_lifetime::forget_array(thread_context& thread, std::uint64_t first) {
  const std::shared_ptr<array_home> array = arrays_.close(first);
  if (array == nullptr) return;
  contributions_.drop(thread, *array);
  const epoch_guard guard(thread);
  std::vector<object_entry*> places;
  {
    const std::scoped_lock lock(array->mutex);
    for (auto& [number, part] : array->parts) {
      for (std::atomic<object_entry*>& place : part->places) {  // relaxed: written under the mutex; all have ended
        if (object_entry* const entry = place.load(std::memory_order_relaxed)) places.push_back(entry);
        place.store(nullptr, std::memory_order_relaxed);
      }
    }
  }
  numbers_.remote().forget(
      object_id::first_element + first, array->layout.shape.count(),
      [&](std::uint64_t number) { return array->name_of(number); },
      [&](object_id element) {
        if (object_entry* const entry = entries_.find(element)) entries_.forget(*entry, thread);
      },
      [&](void* gone, void (*destroy)(void*)) { thread.reader().retire(gone, destroy); });
  for (object_entry* const each : places) activation_.push_notice(*each, thread, news_of_end, messages_.rank());
}

}  // namespace nacre
