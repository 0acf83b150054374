// SPDX-License-Identifier: Apache-2.0
// Measures the inner loop.
#pragma once

#include <string>

namespace nbody {

/// Pairs of bodies a second of each kernel, beside what the processor's measured peak of multiply-and-add would allow.
[[nodiscard]] std::string bench_kernels();

}  // namespace nbody
