// SPDX-License-Identifier: Apache-2.0
// Stands for a shared library with a copy of the runtime: it has the part of the runtime that finds copies.
#include "runtime/runtime_copies.hpp"

extern "C" [[gnu::visibility("default")]] void tell_from_second_copy() { nacre::tell_of_runtime_copies(); }
