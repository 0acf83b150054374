// SPDX-License-Identifier: Apache-2.0
// Pictures as PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mesh2d {

/// Whether the program was built with libpng.
[[nodiscard]] bool has_png() noexcept;

/// The bytes of a PNG file for three bytes a pixel, by rows from the top. Throws std::runtime_error.
[[nodiscard]] std::string png_bytes(const std::vector<std::uint8_t>& rgb, std::uint32_t width, std::uint32_t height);

}  // namespace mesh2d
