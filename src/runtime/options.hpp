// SPDX-License-Identifier: Apache-2.0
// The options of a rank as a whole, and all tables together.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/config.hpp>

namespace nacre {

/// Every table of this build, in the order in which --nacre.help prints them.
[[nodiscard]] std::vector<option_table> all_option_tables();

/// Default number of workers of a rank: the cores that its process may use, divided by the ranks on this host.
[[nodiscard]] std::uint32_t workers_by_default(std::uint32_t cores, std::uint32_t ranks_on_host);

/// Whether the poll loop of a rank has a thread of its own.
[[nodiscard]] bool polls_alone(const config& configuration, std::uint32_t cores, std::uint32_t ranks_on_host,
                               std::uint32_t workers);

/// Processors that the calling thread may use.
[[nodiscard]] std::uint32_t usable_cores();

}  // namespace nacre
