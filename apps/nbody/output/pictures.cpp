// SPDX-License-Identifier: Apache-2.0
// Names of pictures, and their files.
#include "output/pictures.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "output/projection.hpp"
#include "pictures/png_file.hpp"

namespace nbody {
namespace {

void write_bytes(const std::string& name, const std::string& bytes) {
  std::ofstream file(name, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw nacre::setup_error({"cannot write " + name, "the disk may be full", "try another folder"});
}

}  // namespace

void write_picture(const options& asked, evolution& bodies, evolution_state& state) {
  if (asked.pictures.empty() || state.step % asked.picture_steps != 0) return;
  const std::string bytes = pictures::png_bytes(colours_of(bodies.picture(), state.bodies), asked.pixels, asked.pixels);
  state.pictures.emplace_back(bytes.begin(), bytes.end());
  write_bytes(fmt::format("{}-{:06}.png", asked.pictures, state.step), bytes);
}

void write_animation(const options& asked, const evolution_state& state) {
  if (asked.pictures.empty() || state.pictures.empty()) return;
  std::vector<std::string> frames;
  for (const std::vector<std::uint8_t>& each : state.pictures) frames.emplace_back(each.begin(), each.end());
  write_bytes(asked.pictures + ".png", pictures::animated_png(frames));
}

}  // namespace nbody
