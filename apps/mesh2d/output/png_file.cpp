// SPDX-License-Identifier: Apache-2.0
// By the simplified interface of libpng.
#include "output/png_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef MESH2D_HAS_PNG
#include <png.h>
#endif

namespace mesh2d {

#ifdef MESH2D_HAS_PNG

bool has_png() noexcept { return true; }

std::string png_bytes(const std::vector<std::uint8_t>& rgb, std::uint32_t width, std::uint32_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  const int written = png_image_write_to_memory(&image, bytes.data(), &size, 0, rgb.data(), 0, nullptr);
  const std::string cause = image.message;
  png_image_free(&image);
  if (written == 0) throw std::runtime_error(fmt::format("libpng cannot write the picture: {}", cause));
  bytes.resize(size);
  return bytes;
}

#else

bool has_png() noexcept { return false; }

std::string png_bytes(const std::vector<std::uint8_t>&, std::uint32_t, std::uint32_t) {
  throw std::runtime_error("this mesh2d was built without libpng");
}

#endif

}  // namespace mesh2d
