// SPDX-License-Identifier: Apache-2.0
// Another file with a module of that name.
#include "loaded_counter.cpp"
