// SPDX-License-Identifier: Apache-2.0
// Every test type behind one untyped interface, so that tests over all types are compiled once and not for each type.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/archive/error.hpp>
#include <nacre/rng.hpp>

namespace nacre {

class reader;
class writer;

namespace test {

using bytes = std::vector<std::byte>;

/// The outcome of reading some bytes.
struct reading {
  wire_error error = wire_error::none;
  bytes again;  ///< the value that was read, packed once more
};

/// One type of rich_types, and the operations that tests do on it. Random values depend on the passed generator alone.
struct type_case {
  std::string_view name;
  bool keyed;  ///< the type is a map: its elements may change places

  bytes (*pack_random)(rng);
  bytes (*pack_random_growing)(rng);  ///< with a writer that allocates; gives the same bytes
  bytes (*pack_blank)();
  reading (*read)(std::span<const std::byte>);
  /// Reads into a value that holds something else already.
  reading (*read_over)(std::span<const std::byte>, rng);
  /// Packs a random value and reads it back. Returns whether the two are equal.
  bool (*comes_back)(rng);
  /// Reads from `failed`, a reader with an error, into a value that holds something. Returns whether that emptied it.
  bool (*is_cleared_by)(reader& failed, rng);
};

/// Defined in archive_cases_test.cpp.
[[nodiscard]] std::span<const type_case> rich_cases();

}  // namespace test
}  // namespace nacre
