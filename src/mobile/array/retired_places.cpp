// SPDX-License-Identifier: Apache-2.0
// Places that get no element any more, because the keys that they were given to have been forgotten.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/marks.hpp"
#include "mobile/array/array_places.hpp"
#include "mobile/array/reduction.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

/// Ends an empty place with its home here, to which each of the ranks has sent so many messages, and sends no more that
/// must not be lost. False: one of these is still under way, or the place has an element, and nothing has happened.
bool array_places::retire_place(thread_context& on, object_id id, std::span<const detail::sent_count> counts) {
  const epoch_guard guard(on);
  const std::shared_ptr<array_home> array = space_.arrays().find(id);
  object_entry* const at = space_.entries().find(id);
  if (array == nullptr || at == nullptr || !space_.is_home_of(id) || !at->arrivals.begin_idle()) return false;
  const bool has_all = std::ranges::all_of(counts, [&](const detail::sent_count& sent) {
    object_entry_extra* const extra = at->extra();
    if (extra == nullptr) return at->order.has_admitted(sent.rank, sent.count);
    return object_activation::all_streams(*at).next_of(sent.rank) == sent.count;
  });
  if (at->object() == nullptr || !is_empty_place(*at) || !has_all) {
    space_.activation().give_back(*at, on, false);
    return false;
  }
  {
    const std::scoped_lock lock(array->mutex);
    array->retire_place(array_space::number_of(id) - array->first, &array_space::run_part);
  }
  space_.ends().push_end(*at, messages_.rank(), on);
  space_.activation().give_back(*at, on, false);
  return true;
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
void array_places::forget_block(thread_context& on, object_id id) {
  const epoch_guard guard(on);
  space_.sender().remote().forget_block(
      id,
      [&](object_id element) {
        if (object_entry* const at = space_.entries().find(element)) space_.ends().forget(*at, on);
      },
      [&](void* gone, void (*destroy)(void*)) { on.reader().retire(gone, destroy); });
}

/// A message to all elements is done where there is none.
void array_places::pass_over(thread_context& on, const message& m) {
  NACRE_MARK("a message to all elements meets a place without one");
  if (m.header.reply != 0) messages_.post_reply(on, m.header, reduction::none());
  on.counters().done.add(1);
}

}  // namespace nacre
