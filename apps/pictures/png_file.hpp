// SPDX-License-Identifier: Apache-2.0
// Pictures as PNG files, and several of them as an animated one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pictures {

/// Whether the program was built with libpng.
[[nodiscard]] bool has_png() noexcept;

/// The bytes of a PNG file for three bytes a pixel, by rows from the top. Throws std::runtime_error.
[[nodiscard]] std::string png_bytes(const std::vector<std::uint8_t>& rgb, std::uint32_t width, std::uint32_t height);

/// The bytes of an animated PNG file of pictures of one size, each the bytes of a PNG file. Programs that do not know
/// animations show the first one.
[[nodiscard]] std::string animated_png(const std::vector<std::string>& pictures);

}  // namespace pictures
