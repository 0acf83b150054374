// SPDX-License-Identifier: Apache-2.0
// The extension modules of a rank from its start to its end: those that are registered, and those of an option.
#pragma once

#include <nacre/config.hpp>

#include "am/extension_module.hpp"

namespace nacre {

class engine;

/// The limits of modules, as the configuration has them.
[[nodiscard]] extension_limits extension_limits_of(const config& configuration, bool simulated);
/// Before the first poll. Throws setup_error, and what a factory throws.
void attach_extensions(extension_module& extension_module);
/// After the end of the job, while the poll loop still runs: modules end there, where all their functions run.
void end_extensions(engine& core, thread_context& thread);

}  // namespace nacre
