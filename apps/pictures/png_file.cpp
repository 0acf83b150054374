// SPDX-License-Identifier: Apache-2.0
// Single pictures by the simplified interface of libpng; animations by chunks (the PNG specification, third edition).
#include "pictures/png_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#ifdef PICTURES_HAVE_PNG
#include <png.h>
#endif

namespace pictures {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);

void append_number(std::string& target, std::uint32_t number, int bytes = 4) {
  for (int k = bytes - 1; k >= 0; --k) target.push_back(static_cast<char>(number >> 8 * k & 255));
}

/// CRC-32 of ISO 3309, as PNG asks for it.
std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char each : bytes) {
    crc ^= static_cast<unsigned char>(each);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

void append_chunk(std::string& target, std::string_view type, std::string_view content) {
  append_number(target, static_cast<std::uint32_t>(content.size()));
  const std::string covered = std::string(type) + std::string(content);
  target += covered;
  append_number(target, crc_of(covered));
}

/// Calls visit(type, content) for each chunk of a file.
template <class Visit>
void for_each_chunk(std::string_view file, Visit&& visit) {
  for (std::size_t index = signature.size(); index + 12 <= file.size();) {
    std::uint32_t size = 0;
    for (std::size_t k = 0; k < 4; ++k) size = size << 8 | static_cast<unsigned char>(file[index + k]);
    visit(file.substr(index + 4, 4), file.substr(index + 8, size));
    index += 12 + size;
  }
}

/// The chunk that says how the next picture is shown: at the corner, for 1/15 s, in place of the one before.
std::string frame_control(std::uint32_t sequence, std::string_view size) {
  std::string content;
  append_number(content, sequence);
  content += size;
  append_number(content, 0);
  append_number(content, 0);
  append_number(content, 1, 2);
  append_number(content, 15, 2);
  content.append(2, '\0');
  return content;
}

}  // namespace

#ifdef PICTURES_HAVE_PNG

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
  throw std::runtime_error("this program was built without libpng");
}

#endif

std::string animated_png(const std::vector<std::string>& pictures) {
  std::string file(signature);
  std::uint32_t sequence = 0;
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    std::string size, data;
    for_each_chunk(pictures[k], [&](std::string_view type, std::string_view content) {
      if (type == "IDAT") data += content;
      if (type != "IHDR") return;
      size = content.substr(0, 8);
      if (k > 0) return;
      append_chunk(file, type, content);
      std::string control;
      append_number(control, static_cast<std::uint32_t>(pictures.size()));
      append_number(control, 0);  // for ever
      append_chunk(file, "acTL", control);
    });
    append_chunk(file, "fcTL", frame_control(sequence++, size));
    std::string numbered;
    if (k > 0) append_number(numbered, sequence++);
    append_chunk(file, k == 0 ? "IDAT" : "fdAT", numbered + data);
  }
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace pictures
