// SPDX-License-Identifier: Apache-2.0
// The extension modules that the program has registered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/extension_module.hpp>

#include "base/fnv1a.hpp"

namespace nacre {

/// A module by its name, as messages name it. Names of one rank that share a number are refused.
[[nodiscard]] constexpr std::uint64_t extension_number(std::string_view name) noexcept {
  fnv1a<std::uint64_t> hash;
  hash.add(name);
  return ((hash.value() ^ hash.value() >> 32) & 0xffffffffU) | 1;  // of 32 bits, and never 0, which means a program
}

/// A module before it is attached to a rank.
struct registered_extension {
  std::string name;
  extension_factory make;
  extension_access access = extension_access::program;
};

/// All that register_extension was called with, in the order of their names. Any thread.
[[nodiscard]] std::vector<registered_extension> registered_extensions();

}  // namespace nacre
