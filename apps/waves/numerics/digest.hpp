// SPDX-License-Identifier: Apache-2.0
// A number that tells states apart, whichever way the grid is cut.
#pragma once

#include <cstdint>

#include "subdomain.hpp"

namespace waves {

/// The sum modulo 2^64 of a number for each row, which depends on all bits of the row and on its place. Digests of
/// patches are added.
[[nodiscard]] std::uint64_t digest_of(const subdomain& patch);

}  // namespace waves
