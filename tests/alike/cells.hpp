// SPDX-License-Identifier: Apache-2.0
// Two files of one program that have a class of the same name each, in a namespace without a name.
#pragma once

#include <nacre/nacre.hpp>

namespace nacre::tests {

/// Makes an object of the file's class, and returns what one holds: 1 and 2.
[[nodiscard]] object_id make_first(runtime& rt);
[[nodiscard]] object_id make_second(runtime& rt);
[[nodiscard]] int first_value(runtime& rt, object_id object);
[[nodiscard]] int second_value(runtime& rt, object_id object);

}  // namespace nacre::tests
