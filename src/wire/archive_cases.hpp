// SPDX-License-Identifier: Apache-2.0
// Every test type behind one untyped face, so that the tests over all types are compiled once and not once for each.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/archive/error.hpp>

#include "base/rng.hpp"

namespace nacre {

class reader;
class writer;

namespace test {

using bytes = std::vector<std::byte>;

/// What reading some bytes came to.
struct reading {
  wire_error error = wire_error::none;
  bytes again;  ///< the value that was read, packed once more
};

/// One type of rich_types and what tests do with it. Random values depend on the generator handed in only.
struct type_case {
  std::string_view name;
  bool keyed;  ///< a map, whose elements may change places

  bytes (*pack_random)(rng);
  bytes (*pack_random_growing)(rng);  ///< with a writer of its own memory; the same bytes
  bytes (*pack_blank)();
  reading (*read)(std::span<const std::byte>);
  /// Reads into a value that holds something else already.
  reading (*read_over)(std::span<const std::byte>, rng);
  /// Packs and reads a random value; whether it came back equal.
  bool (*comes_back)(rng);
  /// Lets `failed`, a reader with an error, read into a value that holds something; whether nothing was left in it.
  bool (*is_cleared_by)(reader& failed, rng);
};

/// Defined in archive_cases_test.cpp.
[[nodiscard]] std::span<const type_case> rich_cases();

}  // namespace test
}  // namespace nacre
