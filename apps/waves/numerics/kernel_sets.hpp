// SPDX-License-Identifier: Apache-2.0
// The compiled sets of stages, among which kernel_choice.cpp chooses.
#pragma once

#include "row_kernels.hpp"

namespace waves {

/// Null where the processor lacks the instructions.
[[nodiscard]] const row_kernels* portable_kernels() noexcept;
[[nodiscard]] const row_kernels* avx2_kernels() noexcept;
[[nodiscard]] const row_kernels* avx512_kernels() noexcept;

/// Whether first derivatives along z have the weights of the edge here.
[[nodiscard]] constexpr bool is_first_edge(const vertical& z) noexcept {
  return z.edge_row >= 0 && z.edge_row < first_edge_rows;
}

}  // namespace waves
