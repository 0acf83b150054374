// SPDX-License-Identifier: Apache-2.0
// Load models by name, and what is assumed of objects that have not been measured.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <nacre/balancer.hpp>

namespace nacre::balance {

/// The load model of that name: one that the program has registered, else a built-in one; never null. Throws
/// setup_error that names the nearest. Any thread.
[[nodiscard]] std::unique_ptr<load_model> make_load_model(std::string_view name, const config& configuration);

/// What a message takes on average over the messages that wait for objects which have been measured; 0 if none wait.
/// What `known` says of the others, message_seconds 0, does not count.
[[nodiscard]] double usual_message_seconds(std::span<const load_facts> known) noexcept;

}  // namespace nacre::balance
