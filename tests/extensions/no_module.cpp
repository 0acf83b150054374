// SPDX-License-Identifier: Apache-2.0
// A shared object that is no extension module.
#include "proof_of_code.hpp"

extern "C" __attribute__((visibility("default"))) int nothing_of_ours() { return 1; }
