// SPDX-License-Identifier: Apache-2.0
// The grammar of option values: parses them, checks them against the allowed range, and describes faults.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/config.hpp>

namespace nacre {

/// Each function parses the whole text in the form that option_kind describes, or returns nothing.
[[nodiscard]] std::optional<bool> parse_boolean(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
[[nodiscard]] std::optional<double> parse_real(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text) noexcept;

/// Returns the fault of `text` as a value of the option, with the allowed values, as the end of a sentence: "is not a
/// whole number of 0 or more", "is outside 1..1024 threads". Empty when the value is allowed.
[[nodiscard]] std::string find_fault(const option& declaration, std::string_view text);

/// The words of a range such as "tcp|inproc|sim".
[[nodiscard]] std::vector<std::string_view> choices_of(const option& declaration);

/// Returns a value that is certainly allowed, as an example of the form.
[[nodiscard]] std::string example_of(const option& declaration);

/// The word for a kind in help texts, such as "duration".
[[nodiscard]] std::string_view word_for(option_kind kind) noexcept;

}  // namespace nacre
