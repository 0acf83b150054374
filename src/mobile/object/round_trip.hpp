// SPDX-License-Identifier: Apache-2.0
// Whether an object survives being packed and unpacked.
#pragma once

#include <string>

#include <nacre/object_type.hpp>

namespace nacre {

/// Packs an object, unpacks a copy, and puts the copy in its place, as a migration would. Returns the difference
/// between the two, in words; empty when there is none. The old object is destroyed.
///
/// Compares objects by the == of their class, if it has one, and by their packed bytes. The bytes may be in another
/// order, as those of unordered containers are.
[[nodiscard]] std::string round_trip(const detail::object_type& type, void*& object);

}  // namespace nacre
