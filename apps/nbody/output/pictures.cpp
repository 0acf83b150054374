// SPDX-License-Identifier: Apache-2.0
// Names of pictures, and their files.
#include "output/pictures.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
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

std::string name_of(const options& asked, std::int64_t step) {
  return fmt::format("{}-{:06}.png", asked.pictures, step);
}

}  // namespace

void write_picture(const options& asked, evolution& bodies, evolution_state& state) {
  if (asked.pictures.empty() || state.step % asked.picture_steps != 0) return;
  write_bytes(name_of(asked, state.step),
              pictures::png_bytes(colours_of(bodies.picture(), state.bodies), asked.pixels, asked.pixels));
  state.picture_steps.push_back(state.step);
}

void write_animation(const options& asked, const evolution_state& state) {
  if (asked.pictures.empty()) return;
  std::vector<std::string> frames;
  for (const std::int64_t step : state.picture_steps) {
    std::ifstream file(name_of(asked, step), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!bytes.empty()) frames.push_back(std::move(bytes));
  }
  if (!frames.empty()) write_bytes(asked.pictures + ".png", pictures::animated_png(frames));
}

}  // namespace nbody
