// SPDX-License-Identifier: Apache-2.0
// Load models by name, and the message time assumed for objects that have not been measured.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// Makes the registered load model of that name, else the built-in one; never null. Throws setup_error that suggests a
/// similar name. Any thread.
[[nodiscard]] std::unique_ptr<load_model> make_load_model(std::string_view name, const config& configuration);

/// The average time of the messages that wait for measured objects; 0 if none wait. Elements of `known` with
/// message_seconds 0, those of unmeasured objects, do not count.
[[nodiscard]] double usual_message_seconds(std::span<const load_facts> known) noexcept;

}  // namespace nacre::balance
