// SPDX-License-Identifier: Apache-2.0
// Shares out the memory of a control group: half of it is left to the program, and the bounds of Nacre take the rest.
#include "runtime/memory_defaults.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace nacre {
namespace {

// A busy rank holds up to three times receive_memory: what has arrived, what it has made for itself, and what it has
// credit to send. Three eighths for these leave an eighth for the other three options.
constexpr std::uint64_t receive_parts = 8;
constexpr std::uint64_t other_parts = 32;
constexpr std::uint64_t bytes_min = std::uint64_t{1} << 20;  // below that messages of 64 KiB would travel one by one
constexpr const char* variable_name = "NACRE_JOB_RECEIVE_MEMORY";

std::uint64_t part_of(const memory_share& share, std::uint64_t parts) noexcept {
  return std::max(share.bytes / parts / std::max(share.ranks, 1U), bytes_min);
}

void lower(config& configuration, std::string_view option, std::uint64_t bytes) {
  if (configuration.source_of(option) != setting_source::built_in) return;
  if (static_cast<std::uint64_t>(configuration.get_int(option)) > bytes)
    configuration.set(option, bytes, setting_source::program);
}

}  // namespace

void lower_own_memory(config& configuration, const memory_share& share) {
  for (const std::string_view option : {"send_memory", "spare_memory", "trace_memory"})
    lower(configuration, option, part_of(share, other_parts));
}

void lower_receive_memory(config& configuration, const memory_share& share) {
  lower(configuration, "receive_memory", part_of(share, receive_parts));
}

std::string receive_memory_variable(const memory_share& share) {
  return std::string(variable_name) + "=" + std::to_string(part_of(share, receive_parts));
}

void take_receive_memory(config& configuration) {
  const char* const text = std::getenv(variable_name);
  if (text == nullptr) return;
  const std::string_view digits(text);
  std::uint64_t bytes = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), bytes).ec == std::errc() && bytes >= bytes_min)
    lower(configuration, "receive_memory", bytes);
}

}  // namespace nacre
