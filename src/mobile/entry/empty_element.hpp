// SPDX-License-Identifier: Apache-2.0
// The object in a place of an array without an element.
#pragma once

#include <nacre/object_type.hpp>

#include "mobile/entry/object_entry.hpp"

namespace nacre {
namespace detail {

/// Stands for the missing element, as an object of a type of its own; so an empty place has streams, waits for messages
/// and travels home as any object does.
struct empty_element {
  [[nodiscard]] bool may_migrate() const noexcept { return false; }
  template <class Archive>
  void serialize(Archive&) {}
};

}  // namespace detail

/// Whether the object of the entry only stands for a missing element.
[[nodiscard]] inline bool is_empty_place(const object_entry& entry) noexcept {
  return entry.type == detail::type_of<detail::empty_element>().id.value();
}

}  // namespace nacre
