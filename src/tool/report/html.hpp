// SPDX-License-Identifier: Apache-2.0
// Writes pages that need no other file, because style, data and script are inside.
#pragma once

#include <string>
#include <string_view>

namespace nacre::tool {

/// The parts of a page that the build has turned into strings.
struct page_parts {
  std::string_view text;  ///< HTML with the marks @style@, @data@ and @script@, in this order
  std::string_view script;
};

/// Writes a page that holds `data`, which is JSON. Throws setup_error when the file cannot be written.
void write_page(const page_parts& parts, std::string data, const std::string& path);

}  // namespace nacre::tool
