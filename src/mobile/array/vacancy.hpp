// SPDX-License-Identifier: Apache-2.0
// What a place of an array has while it has no element.
#pragma once

#include <nacre/mobile_ptr.hpp>

namespace nacre::detail {

/// Stands for the element that is not there, as an object of a type of its own; so an empty place has streams, waits
/// for messages and travels home as any object does.
struct vacancy {
  [[nodiscard]] bool may_migrate() const noexcept { return false; }
  template <class Archive>
  void serialize(Archive&) {}
};

}  // namespace nacre::detail
