// SPDX-License-Identifier: Apache-2.0
// How much memory this process can still get before the kernel ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nacre {

/// The memory and swap space of this machine that nobody uses, but no more than the control groups of the process leave
/// to all its processes. Nothing where the kernel does not tell. `root` stands in front of /proc and of all folders, as
/// in limits_of_this_process.
[[nodiscard]] std::optional<std::uint64_t> available_memory(const std::string& root = {});

}  // namespace nacre
