// SPDX-License-Identifier: Apache-2.0
// Lines for people on standard error.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace nacre {

/// Writes the text to standard error. Where that cannot be written nothing happens, while fmt::print would throw: there
/// is nobody left to tell. Any thread.
template <class... Arguments>
void print_error(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  const std::string line = fmt::format(text, std::forward<Arguments>(arguments)...);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace nacre
