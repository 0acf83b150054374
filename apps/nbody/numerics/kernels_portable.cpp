// SPDX-License-Identifier: Apache-2.0
// The kernels for any processor; libraries.cmake has the compiler's options.
#include "kernel_functions.hpp"

namespace nbody {

const kernel_set& portable_kernels() {
  static constexpr kernel_set kernels = kernels_named("portable");
  return kernels;
}

}  // namespace nbody
