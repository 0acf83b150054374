// SPDX-License-Identifier: Apache-2.0
// The program mesh3d on random small surfaces, most of them degenerate: it makes a mesh that passes the check, refuses
// the file with a line that names the defect, or the check says that parts are too thin for the edges asked for.
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

/// A file of one of four formats; a few are cut off.
std::string write_surface(std::uint64_t seed, const std::filesystem::path& folder) {
  const surface_mesh mesh = troubled_surface::make(seed);
  constexpr std::array<const char*, 4> names{"in.off", "in.obj", "text.stl", "bytes.stl"};
  const std::size_t format = seed % 4;
  std::string bytes = format == 0   ? as_off(mesh)
                      : format == 1 ? as_obj(mesh)
                      : format == 2 ? as_text_stl(mesh)
                                    : as_binary_stl(mesh);
  nacre::rng random(seed);
  if (random.below(25) == 0) bytes.resize(random.below(bytes.size()));
  const std::string path = (folder / names[format]).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// Ways to run it, by seed.
std::string options_of(std::uint64_t seed) {
  nacre::rng random(seed + 1'000'000'000);
  std::string text = fmt::format(" --check --size {} --subdomains {} --nacre.transport=sim --nacre.ranks={}",
                                 random.below(4) == 0 ? 0.3 : 0.12, 1 + random.below(9), 1 + random.below(3));
  if (random.below(3) == 0) text += fmt::format(" --curvature {}", 4 * random.below(5));
  if (random.below(4) == 0) text += " --nacre.balancer=rotate";
  if (random.below(4) == 0) text += " --slivers 8";
  return text;
}

/// The faults that the check shows, but for those of parts that are too thin.
std::string other_faults(const std::string& output) {
  std::string found;
  for (std::size_t begin = output.find("  fault: "); begin != std::string::npos;
       begin = output.find("  fault: ", begin + 1)) {
    const std::string line = output.substr(begin, output.find('\n', begin) - begin);
    if (line.find("edges are too long for its thin parts") == std::string::npos) found += line + "\n";
  }
  return found;
}

TEST(RandomSurfaces, are_meshed_or_refused_with_a_line_that_names_the_defect) {
  const char* const asked = std::getenv("NACRE_MESH3D_SEEDS");
  const std::uint64_t seeds =
      asked == nullptr ? (nacre::tests::sanitized ? 16 : 60) : std::strtoull(asked, nullptr, 10);
  unsetenv("NACRE_MESH3D_SEEDS");  // the program would refuse it
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("mesh3d_random_{}", getpid());
  std::filesystem::create_directory(folder);
  std::uint64_t clean = 0, refused = 0, thin = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string file = write_surface(seed, folder), options = options_of(seed);
    const auto got = nacre::tests::run_in_shell(NACRE_BIN_DIR "/mesh3d " + file + options + " 2>&1");
    SCOPED_TRACE(fmt::format("seed {}:{}\n{}", seed, options, got.output));
    if (got.exit_code == 0) {
      ++clean;
      EXPECT_NE(got.output.find("check: passed"), std::string::npos);
    } else if (got.exit_code == 1) {
      ++thin;
      EXPECT_NE(got.output.find("edges are too long for its thin parts"), std::string::npos);
      EXPECT_EQ(other_faults(got.output), "");
    } else {
      ++refused;
      EXPECT_EQ(got.exit_code, 2);
      EXPECT_EQ(std::count(got.output.begin(), got.output.end(), '\n'), 1);
      EXPECT_EQ(got.output.rfind("mesh3d: " + file, 0), 0u);
      EXPECT_NE(got.output.find("): "), std::string::npos);
    }
  }
  fmt::print("{} clean, {} refused, {} with parts that are too thin\n", clean, refused, thin);
  EXPECT_GT(clean, seeds / 10);
  EXPECT_GT(refused, seeds / 5);
  EXPECT_LT(thin, seeds / 3);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mesh3d::tests
