// SPDX-License-Identifier: Apache-2.0
// Cuts the input of a fuzzer into values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace nacre::transport {

using fuzz_input = std::span<const std::byte>;

/// Takes so many bytes from the front, or all that are left.
inline fuzz_input cut(fuzz_input& input, std::size_t bytes) {
  const fuzz_input first = input.first(std::min(bytes, input.size()));
  input = input.subspan(first.size());
  return first;
}

/// Takes a value; missing bytes are zeros.
template <class Value>
Value cut_value(fuzz_input& input) {
  Value value{};
  const fuzz_input bytes = cut(input, sizeof value);
  if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

}  // namespace nacre::transport
