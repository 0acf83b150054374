// SPDX-License-Identifier: Apache-2.0
// The elements of arrays as they are made, and what a rank forgets of arrays and their places.
#pragma once

#include <cstdint>
#include <span>

#include <nacre/keyed_array.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/elements/contributions.hpp"
#include "mobile/elements/place_rows.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/object_creation.hpp"
#include "mobile/object/send_entries.hpp"

namespace nacre {

/// Any thread.
class array_lifetime {
 public:
  array_lifetime(am_engine& messages, const nacre::homes& homes, const location_rules& rules, directory& entries,
                 array_table& arrays, send_entries& numbers, object_creation& creation, object_activation& activation,
                 contributions& contributed, place_rows& places) noexcept
      : messages_(messages),
        homes_(homes),
        rules_(rules),
        entries_(entries),
        arrays_(arrays),
        numbers_(numbers),
        creation_(creation),
        activation_(activation),
        contributions_(contributed),
        places_(places) {}

  /// Makes this rank the home and owner of an array element, before other ranks know the array.
  void adopt_element(thread_context& thread, std::uint64_t number, void* object);
  /// Installs an element of an image at its home, which is this rank.
  void adopt_element(thread_context& thread, object_id id, object_state state);
  /// Ends an empty place with its home here, to which each of the ranks has sent so many messages, and sends no more
  /// that must not be lost. False: one of these is still under way, or the place has an element, and nothing has
  /// happened. Such places get no element any more, because the keys that they were given to have been forgotten.
  [[nodiscard]] bool retire_place(thread_context& thread, object_id id, std::span<const detail::sent_count> counts);
  /// Forgets what this rank has sent to the elements of a block. Their places have all been retired at their home.
  void forget_block(thread_context& thread, object_id id);
  /// Forgets all places of an array and its layout on this rank. All elements have ended on all ranks.
  void forget_array(thread_context& thread, std::uint64_t first);

 private:
  am_engine& messages_;
  const nacre::homes& homes_;
  const location_rules& rules_;
  directory& entries_;
  array_table& arrays_;
  send_entries& numbers_;
  object_creation& creation_;
  object_activation& activation_;
  contributions& contributions_;
  place_rows& places_;
};

}  // namespace nacre
