// SPDX-License-Identifier: Apache-2.0
// Schedulers by name, and their option.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <nacre/config.hpp>
#include <nacre/scheduler.hpp>

namespace nacre {

/// Makes the registered scheduler of that name, else the built-in one; never null. Throws setup_error that suggests a
/// similar name. Any thread.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(std::string_view name, const config& configuration,
                                                        const scheduler_site& site);

/// Whether the program has registered a scheduler of that name. Any thread.
[[nodiscard]] bool is_registered_scheduler(std::string_view name);

/// The option "scheduler".
[[nodiscard]] std::span<const option> scheduler_options() noexcept;

}  // namespace nacre
