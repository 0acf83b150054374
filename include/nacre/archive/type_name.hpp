// SPDX-License-Identifier: Apache-2.0
// The name of a type for people, in the compiler's spelling.
#pragma once

#include <cstddef>
#include <string_view>

namespace nacre::detail {

/// Returns `whole` from `begin` to the end of the template argument that begins there, in the compiler's spelling.
constexpr std::string_view template_argument(std::string_view whole, std::size_t begin) noexcept {
  std::size_t depth = 0, end = begin;
  for (; end < whole.size(); ++end) {
    const char c = whole[end];
    if (depth == 0 && (c == ';' || c == ']')) break;
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
  }
  return whole.substr(begin, end - begin);
}

template <class T>
constexpr std::string_view type_name() noexcept {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  return template_argument(whole, whole.find("T = ") + 4);
}

}  // namespace nacre::detail
