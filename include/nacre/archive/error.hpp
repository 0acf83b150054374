// SPDX-License-Identifier: Apache-2.0
// The errors that unpacking bytes of another process can find.
#pragma once

#include <cstdint>
#include <string_view>

namespace nacre {

/// Why bytes could not be unpacked. A `reader` keeps its first error; later ones are consequences.
enum class wire_error : std::uint8_t {
  none,               ///< no error
  truncated,          ///< the bytes end before the value does
  length_forged,      ///< a container claims more elements than the remaining bytes can hold
  bad_variant_index,  ///< a std::variant's alternative, or a class of nacre::polymorphic, does not exist
  bad_enum_or_bool,   ///< a bool, a presence flag or a checked enum has a value that its type does not have
  duplicate_key,      ///< a std::map or std::set (or unordered one) repeats a key
  misaligned,         ///< a view was asked for, but the payload is not aligned for its element type
  too_deep,           ///< values nest deeper than `archive_depth_max`
  rejected,           ///< a user's `load` or `serialize` called `reader::fail`
  trailing_bytes      ///< the value is complete and bytes are left over
};

/// One phrase for a log, such as "the bytes end before the value does". Points to static storage.
[[nodiscard]] std::string_view describe(wire_error error) noexcept;

}  // namespace nacre
