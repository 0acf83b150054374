// SPDX-License-Identifier: Apache-2.0
// By which entry, and with which number, this rank sends a message to an object.
#pragma once

#include <atomic>
#include <cstdint>

#include "mobile/array/array_table.hpp"
#include "mobile/array/remote_elements.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"

namespace nacre {

/// Each message has a number in the stream of this rank to its object. Entries count them; the numbers of messages to
/// elements of arrays elsewhere, which need no entry, are in remote_elements alone. Any thread that reads the
/// directory.
class send_entries {
 public:
  send_entries(am_engine& messages, const nacre::homes& homes, const location_rules& rules, directory& entries,
               const array_table& arrays)
      : messages_(messages),
        homes_(homes),
        rules_(rules),
        entries_(entries),
        arrays_(arrays),
        remote_(messages.pool().readers()) {}

  /// The entry by which this rank sends to an object, for as long as the object may live. A new entry refers to the
  /// object's home. Null when this rank is the home and has no entry: the object has been destroyed.
  [[nodiscard]] object_entry* entry_to_send_by(thread_context& thread, object_id id) {
    object_entry* const known = entries_.find(id);
    if (known != nullptr && known->location.keep()) [[likely]]
      return known;
    return make_entry_to_send_by(thread, id);
  }
  /// The entry of an object that has another home, made when there is none.
  [[nodiscard]] object_entry& entry_elsewhere(object_id id);
  /// The entry of a place with its home here, made when the first message comes for it; null when this rank is not its
  /// home. Holds the mutex from making the entry to noting it, so that later messages to all elements find it.
  [[nodiscard]] object_entry* place_at_home(object_id id);
  /// The counter by which this rank numbers its messages to the object of an entry.
  [[nodiscard]] std::atomic<std::uint32_t>& next_sequence(object_entry& entry);
  /// The counter for an element of an array that has another home. Null for all other objects.
  [[nodiscard]] remote_elements::place place_elsewhere(object_id id) {
    return is_element_elsewhere(id) ? place_of_element(id) : remote_elements::place();
  }

  [[nodiscard]] remote_elements& remote() noexcept { return remote_; }

 private:
  [[nodiscard]] bool is_element_elsewhere(object_id id) const noexcept {
    if (!id.is_element()) return false;
    const rank_id home = homes_.home_of(id);
    return home != messages_.rank() && home.value() < messages_.size();
  }
  [[nodiscard]] object_entry* make_entry_to_send_by(thread_context& thread, object_id id);
  [[nodiscard]] object_entry* new_entry_to_send_by(object_id id);
  [[nodiscard]] remote_elements::place place_of_element(object_id id);

  am_engine& messages_;
  const nacre::homes& homes_;
  const location_rules& rules_;
  directory& entries_;
  const array_table& arrays_;
  remote_elements remote_;
};

}  // namespace nacre
