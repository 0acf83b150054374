// SPDX-License-Identifier: Apache-2.0
// Places that get no element any more, because the keys that they were given to have been forgotten.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/marks.hpp"
#include "mobile/array/array_places.hpp"
#include "mobile/array/reduction.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

/// Ends an empty place with its home here, to which each of the ranks has sent so many messages, and sends no more that
/// must not be lost. False: one of these is still under way, or the place has an element, and nothing has happened.
bool array_places::retire_place(thread_context& thread, object_id id, std::span<const detail::sent_count> counts) {
  const epoch_guard guard(thread);
  const std::shared_ptr<array_home> array = space_.arrays().find(id);
  if (array == nullptr || !space_.is_home_of(id)) return false;
  object_entry* entry = space_.entries().find(id);
  if (entry == nullptr) entry = place_at_home(id);  // a job that goes on from an image has no empty places
  if (entry == nullptr || !entry->arrivals.begin_idle()) return false;
  const bool begun = entry->object() != nullptr || begin_place(*entry);
  const bool has_all = std::ranges::all_of(counts, [&](const detail::sent_count& sent) {
    object_entry_extra* const extra = entry->extra();
    if (extra == nullptr) return entry->order.has_admitted(sent.rank, sent.count);
    return object_activation::all_streams(*entry).next_of(sent.rank) == sent.count;
  });
  if (!begun || !is_empty_place(*entry) || !has_all) {
    space_.activation().give_back(*entry, thread, false);
    return false;
  }
  std::shared_ptr<array_part> part;
  {
    const std::scoped_lock lock(array->mutex);
    part = array->retire_place(array_space::number_of(id) - array->first, &array_space::run_part);
  }
  if (part != nullptr) retire_part(thread, std::move(part));
  space_.ends().push_end(*entry, messages_.rank(), thread);
  space_.activation().give_back(*entry, thread, false);
  return true;
}

void array_places::retire_part(thread_context& thread, std::shared_ptr<array_part> part) {
  thread.reader().retire(new std::shared_ptr<array_part>(std::move(part)),
                         [](void* gone) { delete static_cast<std::shared_ptr<array_part>*>(gone); });
}

bool array_places::is_retired(object_id id) const {
  const std::shared_ptr<array_home> array = space_.arrays().find(id);
  if (array == nullptr) return false;
  const std::uint64_t number = array_space::number_of(id) - array->first;
  const std::scoped_lock lock(array->mutex);
  return array->has_retired(number, number);
}

/// Whether no place of the block of names in which an element's is gets an element any more.
bool array_places::has_retired_block(object_id id) const {
  const std::shared_ptr<array_home> array = space_.arrays().find(id);
  if (array == nullptr) return false;
  const std::uint64_t number = array_space::number_of(id) - array->first, begin = number - number % names_a_block;
  const std::scoped_lock lock(array->mutex);
  return array->has_retired(begin, begin + names_a_block - 1);
}

/// Forgets what this rank has sent to the elements of a block. Their places have all been retired at their home.
void array_places::forget_block(thread_context& thread, object_id id) {
  const epoch_guard guard(thread);
  space_.sender().remote().forget_block(
      id,
      [&](object_id element) {
        if (object_entry* const entry = space_.entries().find(element)) space_.ends().forget(*entry, thread);
      },
      [&](void* gone, void (*destroy)(void*)) { thread.reader().retire(gone, destroy); });
}

/// A message to all elements is done where there is none.
void array_places::pass_over(thread_context& thread, const message& m) {
  NACRE_MARK("a message to all elements meets a place without one");
  if (m.header.reply != 0) messages_.post_reply(thread, m.header, reduction::none());
  thread.counters().done.add(1);
}

}  // namespace nacre
