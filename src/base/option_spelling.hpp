// SPDX-License-Identifier: Apache-2.0
// How the name of an option is written on the command line, in the environment, in a file and in code.
#pragma once

#include <string>
#include <string_view>

#include <nacre/config.hpp>

namespace nacre {

inline constexpr std::string_view command_line_prefix = "--nacre.";
inline constexpr std::string_view environment_prefix = "NACRE_";
inline constexpr std::string_view launcher_prefix = "NACRE_JOB_";  ///< set by `nacre run` for its processes, no options

/// What stands before every name in this source; empty in files and code.
[[nodiscard]] std::string_view prefix_of(setting_source source) noexcept;

/// The variable of an option: "NACRE_TCP_PORT" for "tcp.port".
[[nodiscard]] std::string environment_name(std::string_view name);

/// The name as a user of the source writes it: --nacre.tcp.port, NACRE_TCP_PORT or tcp.port.
[[nodiscard]] std::string spelled(std::string_view name, setting_source source);

/// For people: "the command line", "the environment".
[[nodiscard]] std::string_view word_for(setting_source source) noexcept;

}  // namespace nacre
