// SPDX-License-Identifier: Apache-2.0
// Whether an object survives being packed and unpacked.
#pragma once

#include <string>

#include <nacre/mobile_ptr.hpp>

namespace nacre {

/// Packs an object, makes another one from the bytes, and puts that in its place, as a migration would. Returns what is
/// different about the new one, in words; nothing when all is well. Then the old one is gone.
///
/// Objects are compared by the == of their class, if it has one, and by their packed bytes; these may come in another
/// order, as those of unordered containers do.
[[nodiscard]] std::string round_trip(const detail::object_type& type, void*& object);

}  // namespace nacre
