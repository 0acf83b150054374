// SPDX-License-Identifier: Apache-2.0
// The error for a user when the system starts no more threads.
#pragma once

#include <cstdint>
#include <exception>

#include <nacre/error.hpp>

namespace nacre {

/// Of `wanted` threads only `started` could be, for the reason that std::thread's constructor has thrown.
[[nodiscard]] setup_error thread_shortage(std::uint64_t started, std::uint64_t wanted, const std::exception& thrown);

}  // namespace nacre
