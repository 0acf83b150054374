// SPDX-License-Identifier: Apache-2.0
// Meshes that lack a part of their surface, as this method makes them of some surfaces, do not pass the check.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "parallel/job_for_tests.hpp"
#include "surface/polycube.hpp"

namespace mesh3d {
namespace {

/// A surface in a file for as long as this lives.
class surface_file {
 public:
  explicit surface_file(const surface_mesh& mesh)
      : name_(std::filesystem::temp_directory_path() / fmt::format("lost_parts_{}.off", getpid())) {
    std::ofstream output(name_);
    output << fmt::format("OFF\n{} {} 0\n", mesh.points.size(), mesh.triangles.size());
    for (const point& p : mesh.points) output << fmt::format("{} {} {}\n", p.x, p.y, p.z);
    for (const auto& [a, b, c] : mesh.triangles) output << fmt::format("3 {} {} {}\n", a, b, c);
  }
  ~surface_file() { std::filesystem::remove(name_); }
  surface_file(const surface_file&) = delete;
  surface_file& operator=(const surface_file&) = delete;
  [[nodiscard]] std::string name() const { return name_.string(); }

 private:
  std::filesystem::path name_;
};

/// What the check says of a mesh of this surface.
std::string faults_of(const surface_mesh& surface, double size, const char* ranks) {
  const surface_file file(surface);
  const outcome outcome = run_job({{"ranks", ranks}}, {.input = file.name(), .size = size, .check = true});
  std::string text;
  for (const std::string& each : outcome.done.verdict.fault_texts) text += each + "\n";
  return text;
}

surface_mesh stretched(surface_mesh mesh, const point& factor) {
  for (point& p : mesh.points) p = {p.x * factor.x, p.y * factor.y, p.z * factor.z};
  return mesh;
}

TEST(LostParts, a_sharp_edge_that_is_lost_fails_the_check) {
  surface_mesh wedge;  // of 20 degrees
  for (const double x : {0.0, 1.0}) {
    for (const auto& [y, z] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {0.0, 0.364}}) wedge.points.push_back({x, y, z});
  }
  wedge.triangles = {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}, {2, 0, 3}, {2, 3, 5}};
  for (const char* ranks : {"1", "3"}) {
    const std::string said = faults_of(wedge, 0.06, ranks);
    EXPECT_NE(said.find("a part of the surface is lost at ("), std::string::npos) << said;
    EXPECT_NE(said.find("of the length asked for there (bound 0.6)"), std::string::npos) << said;
  }
}

TEST(LostParts, a_handle_that_is_lost_fails_the_check) {
  surface_mesh plate = polycube({"###", "#.#", "###"});
  for (point& p : plate.points) {  // the hole is narrow
    p.x = p.x == 2 ? 1.04 : p.x == 3 ? 2.04 : p.x;
    p.y = p.y == 2 ? 1.04 : p.y == 3 ? 2.04 : p.y;
  }
  const std::string said = faults_of(stretched(plate, {1, 1, 0.4}), 0.1, "2");
  EXPECT_NE(said.find("Euler numbers without a match: 2 of the boundary's 1 components, 0 of the surface's 1"),
            std::string::npos)
      << said;
}

TEST(LostParts, a_plate_that_has_lost_an_eighth_of_its_volume_fails_the_check) {
  const std::string said = faults_of(stretched(polycube({"#"}), {1, 1, 0.1}), 0.1, "1");
  EXPECT_NE(said.find("the volume inside is 0.8"), std::string::npos) << said;
  EXPECT_NE(said.find("(bounds 0.95 and 1.05)"), std::string::npos) << said;
  EXPECT_EQ(faults_of(stretched(polycube({"#"}), {1, 1, 0.1}), 0.05, "2"), "");
}

}  // namespace
}  // namespace mesh3d
