// SPDX-License-Identifier: Apache-2.0
// The kernels for AVX-512; libraries.cmake has the compiler's options.
#include "kernel_functions.hpp"

namespace nbody {

const kernel_set& avx512_kernels() {
  static constexpr kernel_set kernels = kernels_named("avx512");
  return kernels;
}

}  // namespace nbody
