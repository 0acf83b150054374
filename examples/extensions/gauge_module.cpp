// SPDX-License-Identifier: Apache-2.0
// The gauge as a module that is loaded: gauge.so.
#include "gauge.hpp"

NACRE_EXTENSION(gauge)
