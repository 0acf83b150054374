// SPDX-License-Identifier: Apache-2.0
// Chooses a set of stages for this processor.
#include <string_view>

#include "kernel_sets.hpp"

namespace waves {

const row_kernels* kernels_named(const char* name) noexcept {
  for (const row_kernels* each : {portable_kernels(), avx2_kernels(), avx512_kernels()}) {
    if (each != nullptr && std::string_view(each->name) == name) return each;
  }
  return nullptr;
}

const row_kernels& best_kernels() noexcept {
  for (const row_kernels* each : {avx512_kernels(), avx2_kernels()}) {
    if (each != nullptr) return *each;
  }
  return *portable_kernels();
}

}  // namespace waves
