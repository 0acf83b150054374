// SPDX-License-Identifier: Apache-2.0
// The options of a rank as a whole, and all tables together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nacre/config.hpp>

namespace nacre {

/// Every table of this build, in the order in which --nacre.help prints them.
[[nodiscard]] std::vector<option_table> all_option_tables();

/// Returns a line for each NACRE_ variable of a null-terminated list such as `environ` that is no option of this build,
/// with the nearest one. None about those that say where Nacre is installed: NACRE_ROOT, NACRE_DIR, NACRE_HOME,
/// NACRE_PREFIX and NACRE_VERSION, as module files, package managers and users of CMake set them.
[[nodiscard]] std::vector<std::string> warnings_about_variables(const char* const* environment);

/// Returns a line for each option of the command line that has no effect beside the others. `is_launched`: a launcher
/// has started this process as a rank of a job.
[[nodiscard]] std::vector<std::string> warnings_about_effects(const config& configuration, bool is_launched);

/// Default number of workers of a rank: the cores that its process may use, divided by the ranks on this host.
[[nodiscard]] std::uint32_t workers_by_default(std::uint32_t cores, std::uint32_t ranks_sharing_cores);

/// Whether the poll loop of a rank has a thread of its own.
[[nodiscard]] bool polls_alone(const config& configuration, std::uint32_t cores, std::uint32_t ranks_sharing_cores,
                               std::uint32_t workers);

/// Processors that the calling thread may use, by its affinity and by the control groups of the process.
[[nodiscard]] std::uint32_t usable_cores();
/// The whole processors among so many of which the control groups leave `bound` in sum, at least one. A worker for a
/// part of a processor would have the kernel stop all of them for the rest of each period.
[[nodiscard]] std::uint32_t cores_within(std::uint32_t processors, std::optional<double> bound);

}  // namespace nacre
