// SPDX-License-Identifier: Apache-2.0
// mesh2d --no-refine and Triangle make one triangulation, but for points on one circle. Triangle runs in a process of
// its own, where Python finds the module `triangle`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cloud_input.hpp"
#include "input/poly_writer.hpp"
#include "kernel/troubled_input.hpp"
#include "plain_triangulation.hpp"
#include "shell_command.hpp"

namespace mesh2d::tests {
namespace {

namespace files = std::filesystem;

/// Triangle drops one of two points at one place, and crashes when segments end at that one.
pslg without_duplicates(const pslg& input, const std::vector<point>& placed) {
  pslg result{.source = input.source, .holes = input.holes};
  std::map<std::pair<double, double>, std::uint32_t> known;
  std::vector<std::uint32_t> number;
  for (const point& position : placed) {
    const auto fresh = static_cast<std::uint32_t>(result.points.size());
    number.push_back(known.try_emplace({position.x, position.y}, fresh).first->second);
    if (number.back() == fresh) result.points.push_back({.position = position, .name = fresh});
  }
  for (const auto& [begin, end, line, name] : input.segments) {
    if (number[begin] != number[end]) result.segments.push_back({.begin = number[begin], .end = number[end]});
  }
  return result;
}

/// Writes an input, and the corners of each of its triangles, for the script. Returns whether there are any.
bool write_case(const pslg& input, const files::path& path) {
  const auto mine = triangulate_plainly(input);
  if (!mine || !mine->bent.empty()) return false;
  write_poly(without_duplicates(input, mine->placed), path.string() + ".poly");
  std::ofstream file(path.string() + ".triangles");
  for (const auto& [a, b, c] : mine->triangles) {
    file << fmt::format("{} {} {} {} {} {}\n", a.x, a.y, b.x, b.y, c.x, c.y);
  }
  return true;
}

TEST(Triangle, makes_the_same_triangulation) {
  if (nacre::tests::run_in_shell("python3 -c 'import triangle, numpy' 2>&1").exit_code != 0) {
    GTEST_SKIP() << "Python has no module triangle (pip install triangle)";
  }
  const char* const asked = std::getenv("NACRE_ORACLE_SEEDS");
  const std::uint64_t seeds = asked == nullptr ? 300 : std::strtoull(asked, nullptr, 10);
  const files::path folder = files::temp_directory_path() / fmt::format("mesh2d_triangle_{}", getpid());
  files::create_directory(folder);
  std::uint64_t written = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    written += write_case(cloud_input::make(seed), folder / fmt::format("cloud_{}", seed));
    written += write_case(troubled_input::make(seed), folder / fmt::format("troubled_{}", seed));
  }
  EXPECT_GT(written, seeds);
  const auto compared = nacre::tests::run_in_shell(
      "python3 " NACRE_SOURCE_DIR "/tests/oracles/compare_with_triangle.py " + folder.string() + " 2>&1");
  EXPECT_EQ(compared.exit_code, 0) << compared.output;
  EXPECT_NE(compared.output.find(fmt::format("{} triangulations compared", written)), std::string::npos)
      << compared.output;
  files::remove_all(folder);
}

}  // namespace
}  // namespace mesh2d::tests
