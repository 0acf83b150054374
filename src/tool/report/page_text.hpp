// SPDX-License-Identifier: Apache-2.0
// The files in page/, as strings that the build makes of them.
#pragma once

#include <string_view>

namespace nacre::tool {

// The page of a trace.
[[nodiscard]] std::string_view page_text() noexcept;
[[nodiscard]] std::string_view page_script() noexcept;
// The page of an emulation.
[[nodiscard]] std::string_view emulation_page_text() noexcept;
[[nodiscard]] std::string_view emulation_page_script() noexcept;
/// The style of both.
[[nodiscard]] std::string_view page_style() noexcept;

}  // namespace nacre::tool
