// SPDX-License-Identifier: Apache-2.0
// Finding and making the entries by which this rank sends.
#include "mobile/object/send_entries.hpp"

#include <memory>
#include <mutex>

namespace nacre {

object_entry* send_entries::make_entry_to_send_by(thread_context& thread, object_id id) {
  for (;;) {
    object_entry* known = entries_.find(id);
    if (known == nullptr) known = new_entry_to_send_by(id);
    if (known == nullptr) return nullptr;
    if (known->location.keep()) return known;
    entries_.forget(*known, thread);  // it is being collected: the first thread takes it out
  }
}

object_entry* send_entries::new_entry_to_send_by(object_id id) {
  if (homes_.home_is_here(id)) return id.is_element() ? place_at_home(id) : nullptr;
  if (!homes_.knows(id)) return nullptr;
  if (id.is_element() && arrays_.find(id) == nullptr) return nullptr;
  return &entry_elsewhere(id);
}

object_entry& send_entries::entry_elsewhere(object_id id) {
  object_entry& entry = entries_.find_or_add(id, {homes_.home_of(id), 0});
  if (is_element_elsewhere(id)) {
    const remote_elements::place known = remote_.find_or_add(id);
    known.note_entry();
    if (known.has_sent())
      static_cast<void>(entry.location.keep());  // else the rank would have to learn it again and again
  }
  return entry;
}

object_entry* send_entries::place_at_home(object_id id) {
  if (!homes_.home_is_here(id)) return nullptr;
  const std::shared_ptr<array_home> array = arrays_.find(id);
  if (array == nullptr) return nullptr;
  const std::uint64_t number = array_table::number_of(id) - array->first;
  const detail::array_layout& layout = array->layout;
  if (number >= layout.shape.count() || array->birth_of(number) != id.birth()) return nullptr;
  const std::scoped_lock lock(array->mutex);
  if (array->has_retired(number, number)) return nullptr;
  object_entry& entry = entries_.find_or_add(id, {messages_.rank(), 0, rules_.meant(layout.location), false, true});
  array->note_place(number, entry);
  return &entry;
}

std::atomic<std::uint32_t>& send_entries::next_sequence(object_entry& entry) {
  if (!is_element_elsewhere(entry.id)) return entry.next_sequence;
  const remote_elements::place known = remote_.find(entry.id);
  return known ? known.next_sequence() : entry.next_sequence;  // else its array has ended
}

remote_elements::place send_entries::place_of_element(object_id id) {
  if (const remote_elements::place known = remote_.find(id)) return known;
  return arrays_.find(id) != nullptr ? remote_.find_or_add(id) : remote_elements::place();
}

}  // namespace nacre
