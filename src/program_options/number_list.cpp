// SPDX-License-Identifier: Apache-2.0
// Numbers within the value of one option.
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "program_options/program_options.hpp"

namespace nacre {

std::optional<std::size_t> read_numbers(std::string_view text, char separator, std::span<double> values) {
  const char* position = text.data();
  const char* const last = position + text.size();
  for (std::size_t count = 0; count < values.size();) {
    const auto [end, error] = std::from_chars(position, last, values[count]);
    if (error != std::errc() || !std::isfinite(values[count])) return std::nullopt;
    ++count;
    if (end == last) return count;
    if (*end != separator) return std::nullopt;
    position = end + 1;
  }
  return std::nullopt;
}

}  // namespace nacre
