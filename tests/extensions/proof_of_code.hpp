// SPDX-License-Identifier: Apache-2.0
// Shows in the environment of the process that code of a module has run when it was loaded.
#pragma once

#include <cstdlib>

namespace {

[[maybe_unused]] const bool code_ran = [] { return ::setenv("EXTENSION_CODE_RAN", "1", 1) == 0; }();

}  // namespace
