// SPDX-License-Identifier: Apache-2.0
// The program mesh2d on random small files, most of them degenerate: it makes a mesh that passes the check, or refuses
// the file with a line that names the defect.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "base/sanitized.hpp"
#include "cloud_input.hpp"
#include "input/poly_writer.hpp"
#include "kernel/troubled_input.hpp"
#include "shell_command.hpp"

namespace mesh2d::tests {
namespace {

/// Ways to run it, by seed.
std::string options_of(std::uint64_t seed) {
  nacre::rng random(seed);
  std::string text =
      fmt::format(" --check --angle {} --subdomains {} --nacre.transport=sim --nacre.ranks={}",
                  random.below(3) == 0 ? 0 : 10 * random.below(4), 1 + random.below(6), 1 + random.below(3));
  if (random.below(3) == 0) text += " --deterministic";
  if (random.below(4) == 0) text += " --nacre.balancer=rotate";
  if (random.below(5) == 0) text += " --no-refine";
  return text;
}

TEST(RandomFiles, are_meshed_or_refused_with_a_line_that_names_the_defect) {
  const char* const asked = std::getenv("NACRE_MESH2D_SEEDS");
  const std::uint64_t seeds =
      asked == nullptr ? (nacre::tests::sanitized ? 20 : 80) : std::strtoull(asked, nullptr, 10);
  unsetenv("NACRE_MESH2D_SEEDS");  // the program would refuse it
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("mesh2d_random_{}", getpid());
  std::filesystem::create_directory(folder);
  std::uint64_t clean = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string file = (folder / "in.poly").string();
    write_poly(seed % 4 == 0 ? cloud_input::make(seed) : troubled_input::make(seed), file);
    const std::string command = NACRE_BIN_DIR "/mesh2d " + file + options_of(seed);
    const auto got = nacre::tests::run_in_shell(command + " 2>&1");
    if (got.exit_code == 0) {
      ++clean;
      EXPECT_NE(got.output.find("check: passed"), std::string::npos) << seed << options_of(seed) << "\n" << got.output;
      continue;
    }
    ++refused;
    EXPECT_EQ(got.exit_code, 2) << seed << options_of(seed) << "\n" << got.output;
    EXPECT_EQ(std::count(got.output.begin(), got.output.end(), '\n'), 1) << seed << "\n" << got.output;
    EXPECT_EQ(got.output.rfind("mesh2d: " + file, 0), 0u) << seed << "\n" << got.output;
    EXPECT_NE(got.output.find("): "), std::string::npos) << seed << "\n" << got.output;
  }
  EXPECT_GT(clean, seeds / 4);
  EXPECT_GT(refused, seeds / 6);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mesh2d::tests
