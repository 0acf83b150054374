// SPDX-License-Identifier: Apache-2.0
// Three bytes as four letters.
#include "tool/report/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace nacre::tool {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t position = 0; position < bytes.size(); position += 3) {
    std::uint32_t three = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      const auto byte = position + index < bytes.size() ? static_cast<unsigned char>(bytes[position + index]) : 0u;
      three = three << 8 | byte;
    }
    for (std::size_t index = 0; index < 4; ++index) {
      const bool is_there = position + index <= bytes.size();
      out += is_there ? letters[three >> (18 - 6 * index) & 63] : '=';
    }
  }
  return out;
}

}  // namespace nacre::tool
