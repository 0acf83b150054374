// SPDX-License-Identifier: Apache-2.0
// The program mesh2d makes meshes that pass its check, on any transport, and says what is wrong with an input.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "shell_command.hpp"
#include "transports.hpp"

namespace {

namespace files = std::filesystem;

using outcome = nacre::tests::shell_outcome;

/// With what it says on standard error.
outcome run(const std::string& command) { return nacre::tests::run_in_shell(command + " 2>&1"); }

const std::string bin = NACRE_BIN_DIR "/";

/// A way to run mesh2d: what stands before and behind the program's name.
struct way {
  const char* title;
  const char* before;
  const char* behind;
  friend void PrintTo(const way& w, std::ostream* out) { *out << w.title; }
};

constexpr way ways[] = {
    {"two_workers", "", "--nacre.workers=2"},
    {"two_processes", "nacre run -n 2 ", ""},
    {"three_processes_rotate", "nacre run -n 3 ", "--nacre.balancer=rotate"},
    {"two_processes_over_tcp_in_rounds", "nacre run -n 2 --transport tcp ", "--deterministic"},
    {"simulated_8", "", "--nacre.transport=sim --nacre.ranks=8 --nacre.balancer=diffusion"},
};

class mesh2d_program : public testing::TestWithParam<way> {};

TEST_P(mesh2d_program, passes_its_check) {
  const std::string before = GetParam().before[0] == '\0' ? "" : bin + GetParam().before;
  const std::string triangles = nacre::tests::sanitized ? "3000" : "20000";
  const outcome got = run(before + bin + "mesh2d pipe --subdomains 12 --check --json --triangles " + triangles + " " +
                          GetParam().behind);
  ASSERT_EQ(got.exit_code, 0) << got.output;
  const auto json = nlohmann::json::parse(got.output);
  EXPECT_TRUE(json.at("check").at("passed"));
  EXPECT_NEAR(json.at("triangles").get<double>() / std::stod(triangles), 1, 0.1);
  EXPECT_GE(json.at("check").at("degrees_min").get<double>(), 20.7);
  EXPECT_GT(json.at("splits_sent"), 100);
}

INSTANTIATE_TEST_SUITE_P(every_way, mesh2d_program, testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.title); });

TEST(mesh2d_program, reads_and_writes_files) {
  const files::path folder = files::temp_directory_path() / ("mesh2d_" + std::to_string(getpid()));
  files::create_directory(folder);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  std::ofstream(path("bow.poly")) << "4 2 0 0\n1 0 0\n2 2 2\n3 2 0\n4 0 2\n4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n";
  const outcome refused = run(bin + "mesh2d " + path("bow.poly"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.output.find("bow.poly:9: segment 3 crosses segment 1 of line 7 ("), std::string::npos)
      << refused.output;
  EXPECT_EQ(std::count(refused.output.begin(), refused.output.end(), '\n'), 1) << refused.output;

  std::ofstream(path("thin.poly")) << "3 2 0 0\n1 0 0\n2 4 0\n3 4 0.5\n3 0\n1 1 2\n2 2 3\n3 3 1\n0\n";
  const outcome made = run(bin + "mesh2d " + path("thin.poly") + " --check --out " + path("thin"));
  EXPECT_EQ(made.exit_code, 0) << made.output;
  EXPECT_NE(made.output.find("where the input forbids it"), std::string::npos) << made.output;
  std::ifstream node(path("thin.node")), ele(path("thin.ele"));
  std::size_t points = 0, triangles = 0;
  node >> points;
  ele >> triangles;
  EXPECT_GT(points, 5u);
  EXPECT_GT(triangles, points / 2);

  const outcome drawn = run(bin + "nacre run -n 2 " + bin + "mesh2d pipe --subdomains 6 --out " + path("mesh.png"));
  if (drawn.exit_code == 0) {
    std::string start(8, ' ');
    std::ifstream(path("mesh.png"), std::ios::binary).read(start.data(), 8);
    EXPECT_EQ(start, "\x89PNG\r\n\x1a\n");
  } else {
    EXPECT_NE(drawn.output.find("built without libpng"), std::string::npos) << drawn.output;
  }
  EXPECT_EQ(run(bin + "mesh2d square --out " + path("mesh.obj")).exit_code, 2);
  EXPECT_EQ(run(bin + "mesh2d square --out " + path("none/mesh.vtu")).exit_code, 1);
  files::remove_all(folder);
}

}  // namespace
