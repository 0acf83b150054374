// SPDX-License-Identifier: Apache-2.0
// Two files of one program that have a class of the same name each, in a namespace without a name.
#pragma once

#include <cstddef>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {

/// Makes an object of the file's class, and returns what one holds: 1 and 2.
[[nodiscard]] object_id make_first(runtime& rt);
[[nodiscard]] object_id make_second(runtime& rt);
[[nodiscard]] int first_value(runtime& rt, object_id object);
[[nodiscard]] int second_value(runtime& rt, object_id object);
/// Makes an array of 4 of them, filled, and a group of the file's class of groups; packed. On all ranks, as the next.
[[nodiscard]] std::vector<std::byte> make_first_collections(runtime& rt);
[[nodiscard]] std::vector<std::byte> make_second_collections(runtime& rt);
/// 14 and 28.
[[nodiscard]] int first_sum(runtime& rt, const std::vector<std::byte>& made);
[[nodiscard]] int second_sum(runtime& rt, const std::vector<std::byte>& made);

}  // namespace nacre::tests
