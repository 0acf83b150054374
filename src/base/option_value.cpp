// SPDX-License-Identifier: Apache-2.0
// Parses option values and checks them against their declared range.
#include "base/option_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

namespace nacre {
namespace {

struct named_unit {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<named_unit, 5> duration_units{
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}}};
constexpr std::array<named_unit, 5> byte_units{
    {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", std::int64_t{1} << 40}}};

template <class Units>
std::optional<std::int64_t> unit_size(const Units& units, std::string_view name) noexcept {
  for (const named_unit& unit : units) {
    if (unit.name == name) return unit.size;
  }
  return std::nullopt;
}

/// Parses a number from the front of `text` and removes it.
template <class Number>
std::optional<Number> take_number(std::string_view& text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  const std::optional<Number> value = take_number<Number>(text);
  return text.empty() ? value : std::nullopt;
}

struct range_ends {
  std::string_view low;  // empty: no limit
  std::string_view high;
};

range_ends ends_of(std::string_view range) noexcept {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return {};
  return {range.substr(0, dots), range.substr(dots + 2)};
}

std::string with_unit(const option& declaration, std::string_view limits) {
  std::string text(limits);
  if (!declaration.unit.empty()) text.append(" ").append(declaration.unit);
  return text;
}

/// Returns the allowed range as it follows the form of a value: " within 1..8 threads", " of 0 or more"; empty where
/// every value is allowed.
std::string allowed(const option& declaration) {
  const auto [low, high] = ends_of(declaration.range);
  if (low.empty() && high.empty()) return {};
  if (high.empty()) return " of " + with_unit(declaration, low) + " or more";
  if (low.empty()) return " of " + with_unit(declaration, high) + " or less";
  return " within " + with_unit(declaration, declaration.range);
}

/// Returns the fault of a value that is less, or more, than allowed. Where the declaration sets no bound, the type's
/// own bound `end` stands for it.
std::string fault_of_limits(const option& declaration, bool less, std::string_view end) {
  const auto [low, high] = ends_of(declaration.range);
  if (!low.empty() && !high.empty()) return "is outside " + with_unit(declaration, declaration.range);
  const std::string_view bound = less ? low : high;
  return std::string(less ? "is less than " : "is more than ")
      .append(with_unit(declaration, bound.empty() ? end : bound))
      .append(less ? ", the least allowed" : ", the most allowed");
}

template <class Value>
std::string fault_of_number(const option& declaration, std::string_view text,
                            std::optional<Value> (*parse)(std::string_view) noexcept, std::string_view form) {
  const std::optional<Value> value = parse(text);
  if (!value) return std::string("is not ").append(form).append(allowed(declaration));
  const auto [low, high] = ends_of(declaration.range);
  if (const std::optional<Value> least = parse(low); least && *value < *least)
    return fault_of_limits(declaration, true, {});
  if (const std::optional<Value> most = parse(high); most && *value > *most)
    return fault_of_limits(declaration, false, {});
  return {};
}

std::string fault_of_integer(const option& declaration, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    const bool less = text.starts_with('-');
    using limits = std::numeric_limits<std::int64_t>;
    return fault_of_limits(declaration, less, std::to_string(less ? limits::min() : limits::max()));
  }
  return fault_of_number(declaration, text, parse_integer, "a whole number");
}

std::string fault_of_choice(const option& declaration, std::string_view text) {
  const std::vector<std::string_view> choices = choices_of(declaration);
  if (choices.empty() || std::ranges::find(choices, text) != choices.end()) return {};
  return "is none of " + std::string(declaration.range);
}

}  // namespace

std::optional<bool> parse_boolean(std::string_view text) noexcept {
  for (const std::string_view yes : {"true", "on", "yes", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "off", "no", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept { return parse_number<std::int64_t>(text); }

std::optional<double> parse_real(std::string_view text) noexcept {
  const std::optional<double> value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) noexcept {
  if (text == "0") return std::chrono::nanoseconds::zero();
  const std::optional<double> number = take_number<double>(text);
  const std::optional<std::int64_t> unit = unit_size(duration_units, text);
  if (!number || !unit) return std::nullopt;
  const double nanoseconds = *number * static_cast<double>(*unit);
  constexpr double most = 9.2e18;  // about 292 years
  if (!(nanoseconds >= 0 && nanoseconds <= most)) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(nanoseconds));
}

std::optional<std::int64_t> parse_bytes(std::string_view text) noexcept {
  const std::optional<std::int64_t> number = take_number<std::int64_t>(text);
  const std::optional<std::int64_t> unit = text.empty() ? 1 : unit_size(byte_units, text);
  std::int64_t bytes = 0;
  if (!number || !unit || *number < 0 || __builtin_mul_overflow(*number, *unit, &bytes)) return std::nullopt;
  return bytes;
}

std::string find_fault(const option& declaration, std::string_view text) {
  switch (declaration.kind) {
    case option_kind::boolean:
      return parse_boolean(text) ? std::string() : "is neither true nor false";
    case option_kind::integer:
      return fault_of_integer(declaration, text);
    case option_kind::real:
      return fault_of_number(declaration, text, parse_real, "a number");
    case option_kind::duration:
      return fault_of_number(declaration, text, parse_duration, "a duration with a unit (ns, us, ms, s, min)");
    case option_kind::bytes:
      return fault_of_number(declaration, text, parse_bytes,
                             "a number of bytes (a number, with B, KiB, MiB, GiB or TiB)");
    case option_kind::choice:
    case option_kind::text:
      return fault_of_choice(declaration, text);
  }
  __builtin_unreachable();
}

std::vector<std::string_view> choices_of(const option& declaration) {
  std::vector<std::string_view> choices;
  std::string_view rest = declaration.range;
  while (!rest.empty()) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    choices.push_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return choices;
}

std::string example_of(const option& declaration) {
  if (!declaration.default_value.empty()) return std::string(declaration.default_value);
  return declaration.kind == option_kind::choice ? std::string(choices_of(declaration).front()) : "text";
}

std::string_view word_for(option_kind kind) noexcept {
  switch (kind) {
    case option_kind::boolean:
      return "true|false";
    case option_kind::integer:
      return "integer";
    case option_kind::real:
      return "number";
    case option_kind::duration:
      return "duration";
    case option_kind::bytes:
      return "bytes";
    case option_kind::choice:
      return "word";
    case option_kind::text:
      return "text";
  }
  __builtin_unreachable();
}

}  // namespace nacre
