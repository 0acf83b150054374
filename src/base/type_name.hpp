// SPDX-License-Identifier: Apache-2.0
// The name of a type as source code spells it.
#pragma once

#include <string>
#include <typeinfo>

namespace nacre {

/// Returns "geometry::disc" for the class of that name; the compiler's own spelling where it cannot be read.
[[nodiscard]] std::string type_name(const std::type_info& type);

}  // namespace nacre
