// SPDX-License-Identifier: Apache-2.0
// Balancers by name, and their options.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <nacre/balancer.hpp>
#include <nacre/config.hpp>

namespace nacre {

/// Makes the registered balancer of that name, else the built-in one; null for `none`. Throws setup_error that suggests
/// a similar name. Any thread.
[[nodiscard]] std::unique_ptr<balancer> make_balancer(std::string_view name, const config& configuration);

/// Whether the program has registered a balancer of that name. Any thread.
[[nodiscard]] bool is_registered_balancer(std::string_view balancer);

/// "balancer", "balance.tick", and the parameters of the built-in policies.
[[nodiscard]] std::span<const option> balance_options() noexcept;

}  // namespace nacre
