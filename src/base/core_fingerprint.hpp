// SPDX-License-Identifier: Apache-2.0
// Whether processes share processors.
#pragma once

#include <cstdint>

namespace nacre {

/// A number that identifies this host by its name.
[[nodiscard]] std::uint64_t fingerprint_of_host();
/// A number that identifies this host and those of its processors that the calling thread may use: equal in two
/// processes that compete for the same ones, and different where a launcher has given each its own.
[[nodiscard]] std::uint64_t fingerprint_of_cores();

}  // namespace nacre
