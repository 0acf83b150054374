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

/// Returns the prefix of every name in this source; empty for files and code.
[[nodiscard]] std::string_view prefix_of(setting_source source) noexcept;

/// Returns the environment variable of an option: "NACRE_TCP_PORT" for "tcp.port".
[[nodiscard]] std::string environment_name(std::string_view name);

/// Returns the name as a user writes it in this source: --nacre.tcp.port, NACRE_TCP_PORT or tcp.port.
[[nodiscard]] std::string spelled(std::string_view name, setting_source source);

/// Returns the source's name for messages: "the command line", "the environment".
[[nodiscard]] std::string_view word_for(setting_source source) noexcept;

}  // namespace nacre
