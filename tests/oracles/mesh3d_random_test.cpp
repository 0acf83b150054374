// SPDX-License-Identifier: Apache-2.0
// The program mesh3d on random small surfaces. Half of them are sound: they can be meshed. Most of the others are
// degenerate: it makes a mesh that passes the check, refuses the file with a line that names the defect, or the check
// says that parts are too thin for the edges asked for.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/sanitized.hpp"
#include "shell_command.hpp"
#include "surface/sound_surface.hpp"
#include "surface/troubled_surface.hpp"

namespace mesh3d::tests {
namespace {

std::string text_of(const point& p) { return fmt::format("{:.17g} {:.17g} {:.17g}", p.x, p.y, p.z); }

std::string as_off(const surface_mesh& mesh) {
  std::string text = fmt::format("OFF\n{} {} 0\n", mesh.points.size(), mesh.triangles.size());
  for (const point& p : mesh.points) text += text_of(p) + "\n";
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("3 {} {} {}\n", a, b, c);
  return text;
}

std::string as_obj(const surface_mesh& mesh) {
  std::string text;
  for (const point& p : mesh.points) text += "v " + text_of(p) + "\n";
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("f {} {} {}\n", a + 1, b + 1, c + 1);
  return text;
}

std::string as_text_stl(const surface_mesh& mesh) {
  std::string text = "solid troubled\n";
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (const point& p : mesh.corners(t)) text += "vertex " + text_of(p) + "\n";
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid\n";
}

/// With floats of 32 bits.
std::string as_binary_stl(const surface_mesh& mesh) {
  std::string bytes(80, ' ');
  const auto add = [&](const auto& value) {
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
  };
  add(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    bytes.append(12, '\0');
    for (const point& p : mesh.corners(t)) {
      for (const double each : {p.x, p.y, p.z}) add(static_cast<float>(each));
    }
    bytes.append(2, '\0');
  }
  return bytes;
}

/// Four seeds of eight, one for each format.
bool is_sound(std::uint64_t seed) { return seed / 4 % 2 == 0; }

/// A file of one of four formats; a few of those that are not sound are cut off.
std::string write_surface(std::uint64_t seed, const std::filesystem::path& folder) {
  const surface_mesh mesh = is_sound(seed) ? sound_surface::make(seed) : troubled_surface::make(seed);
  constexpr std::array<const char*, 4> names{"in.off", "in.obj", "text.stl", "bytes.stl"};
  const std::size_t format = seed % 4;
  std::string bytes = format == 0   ? as_off(mesh)
                      : format == 1 ? as_obj(mesh)
                      : format == 2 ? as_text_stl(mesh)
                                    : as_binary_stl(mesh);
  nacre::rng random(seed);
  if (!is_sound(seed) && random.below(25) == 0) bytes.resize(random.below(bytes.size()));
  const std::string path = (folder / names[format]).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// Ways to run it, by seed. For a sound surface edges are short enough.
std::string options_of(std::uint64_t seed) {
  nacre::rng random(seed + 1'000'000'000);
  const double size = is_sound(seed) ? 0.1 : random.below(4) == 0 ? 0.3 : 0.12;
  std::string text = fmt::format(" --check --size {} --subdomains {} --nacre.transport=sim --nacre.ranks={}", size,
                                 1 + random.below(9), 1 + random.below(3));
  if (is_sound(seed)) {
    text += fmt::format(" --curvature {}", 12 + 4 * random.below(3));
  } else if (random.below(3) == 0) {
    text += fmt::format(" --curvature {}", 4 * random.below(5));
  }
  if (random.below(4) == 0) text += " --nacre.balancer=rotate";
  if (random.below(4) == 0) text += " --slivers 8";
  return text;
}

/// The faults that the check shows, but for those of parts that are too thin.
std::string other_faults(const std::string& output) {
  std::string match;
  for (std::size_t begin = output.find("  fault: "); begin != std::string::npos;
       begin = output.find("  fault: ", begin + 1)) {
    const std::string line = output.substr(begin, output.find('\n', begin) - begin);
    if (line.find("edges are too long") == std::string::npos) match += line + "\n";
  }
  return match;
}

/// What the program says of a mesh, without the lines that depend on the machine or on how it is run.
std::string mesh_of(const std::string& output) {
  const std::size_t surface = output.find("  surface of"), check = output.find("check: ");
  if (surface == std::string::npos || check == std::string::npos) return output;
  return output.substr(surface, check - surface) + output.substr(output.find('\n', check));
}

/// How runs ended.
struct outcome_counts {
  std::uint64_t clean = 0, refused = 0, thin = 0;
};

void add_outcome(const nacre::tests::shell_outcome& got, const std::string& file, outcome_counts& outcome_counts) {
  if (got.exit_code == 0) {
    ++outcome_counts.clean;
    EXPECT_NE(got.output.find("check: passed"), std::string::npos);
  } else if (got.exit_code == 1) {
    ++outcome_counts.thin;
    EXPECT_NE(got.output.find("edges are too long"), std::string::npos);
    EXPECT_EQ(other_faults(got.output), "");
  } else {
    ++outcome_counts.refused;
    EXPECT_EQ(got.exit_code, 2);
    EXPECT_EQ(std::count(got.output.begin(), got.output.end(), '\n'), 1);
    EXPECT_EQ(got.output.rfind("mesh3d: " + file, 0), 0u);
    EXPECT_NE(got.output.find("): "), std::string::npos);
  }
}

class RandomSurfaces : public testing::Test {
 protected:
  RandomSurfaces() {
    unsetenv("NACRE_MESH3D_SEEDS");  // the program would refuse it
    std::filesystem::create_directory(folder_);
  }
  ~RandomSurfaces() override { std::filesystem::remove_all(folder_); }

  const char* const asked_ = std::getenv("NACRE_MESH3D_SEEDS");
  const std::uint64_t seeds_ =
      asked_ == nullptr ? (nacre::tests::sanitized ? 16 : 60) : std::strtoull(asked_, nullptr, 10);
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("mesh3d_random_{}", getpid());
};

TEST_F(RandomSurfaces, are_meshed_or_refused_with_a_line_that_names_the_defect) {
  outcome_counts sound, troubled;
  for (std::uint64_t seed = 0; seed < seeds_; ++seed) {
    const std::string file = write_surface(seed, folder_), options = options_of(seed);
    const auto got = nacre::tests::run_in_shell(NACRE_BIN_DIR "/mesh3d " + file + options + " 2>&1");
    SCOPED_TRACE(fmt::format("seed {}:{}\n{}", seed, options, got.output));
    add_outcome(got, file, is_sound(seed) ? sound : troubled);
    if (seed % 15 == 0) {  // the mesh is that of the seed, whatever runs it
      const std::string other = " --nacre.transport=inproc --nacre.ranks=2 --nacre.workers=2 --nacre.balancer=none";
      const auto again = nacre::tests::run_in_shell(NACRE_BIN_DIR "/mesh3d " + file + options + other + " 2>&1");
      EXPECT_EQ(mesh_of(again.output), mesh_of(got.output));
      EXPECT_EQ(again.exit_code, got.exit_code);
    }
  }
  fmt::print("of sound ones {} clean, {} refused, {} with faults; of others {} clean, {} refused, {} with faults\n",
             sound.clean, sound.refused, sound.thin, troubled.clean, troubled.refused, troubled.thin);
  EXPECT_EQ(sound.refused, 0u);
  EXPECT_GE(sound.clean, seeds_ / 3);
  EXPECT_GE(troubled.refused, seeds_ / 5);
  EXPECT_LT(troubled.thin, seeds_ / 4);
}

}  // namespace
}  // namespace mesh3d::tests
