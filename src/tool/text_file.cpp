// SPDX-License-Identifier: Apache-2.0
// Files that a user names.
#include "tool/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <nacre/error.hpp>

namespace nacre::tool {

std::string text_of_file(const std::string& path, const std::string& reason) {
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  std::string text;
  int problem = file == nullptr ? errno : 0;
  if (file != nullptr) {
    std::array<char, 1 << 16> buffer;
    std::size_t bytes = 0;
    while ((bytes = std::fread(buffer.data(), 1, buffer.size(), file)) != 0) text.append(buffer.data(), bytes);
    if (std::ferror(file) != 0) problem = errno;  // a folder: fopen succeeds, fread fails
    std::fclose(file);
  }
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // editors of Windows write it
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  if (problem == 0) return text;
  throw setup_error(
      {.problem = "cannot read '" + path + "': " + std::strerror(problem), .why = reason, .remedy = "check the path"});
}

}  // namespace nacre::tool
