// SPDX-License-Identifier: Apache-2.0
// The object in a place of an array without an element.
#pragma once

#include <nacre/object_type.hpp>

namespace nacre::detail {

/// Stands for the missing element, as an object of a type of its own; so an empty place has streams, waits for messages
/// and travels home as any object does.
struct empty_element {
  [[nodiscard]] bool may_migrate() const noexcept { return false; }
  template <class Archive>
  void serialize(Archive&) {}
};

}  // namespace nacre::detail
