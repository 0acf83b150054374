// SPDX-License-Identifier: Apache-2.0
// The files in page/, as strings that the build makes of them.
#pragma once

#include <string_view>

namespace nacre::tool {

[[nodiscard]] std::string_view page_text() noexcept;
[[nodiscard]] std::string_view page_style() noexcept;
[[nodiscard]] std::string_view page_script() noexcept;

}  // namespace nacre::tool
