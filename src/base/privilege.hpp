// SPDX-License-Identifier: Apache-2.0
// Whether the process may do more than whoever has started it.
#pragma once

#include <sys/auxv.h>

namespace nacre {

/// True for a program with a set-user-id or set-group-id bit, or with capabilities of its own. Its caller then must not
/// choose what code it loads: the rule of the dynamic loader and of secure_getenv.
[[nodiscard]] inline bool has_more_rights_than_its_caller() noexcept { return ::getauxval(AT_SECURE) != 0; }

}  // namespace nacre
