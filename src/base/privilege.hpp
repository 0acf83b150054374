// SPDX-License-Identifier: Apache-2.0
// Whether the process has more rights than its caller.
#pragma once

#include <sys/auxv.h>

namespace nacre {

/// True for a program with a set-user-id or set-group-id bit, or with capabilities of its own. The caller must then not
/// choose the code that the program loads: the rule of the dynamic loader and of secure_getenv.
[[nodiscard]] inline bool has_more_rights_than_its_caller() noexcept { return ::getauxval(AT_SECURE) != 0; }

}  // namespace nacre
