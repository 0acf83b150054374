// SPDX-License-Identifier: Apache-2.0
// Bytes within JSON.
#pragma once

#include <string>
#include <string_view>

namespace nacre::tool {

/// Base 64 of RFC 4648, with its padding.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace nacre::tool
