// SPDX-License-Identifier: Apache-2.0
// The program mesh2d makes meshes that pass its check, on any transport, and says what is wrong with an input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
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
  const char* prefix;
  const char* suffix;
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
  const std::string previous = GetParam().prefix[0] == '\0' ? "" : bin + GetParam().prefix;
  const std::string triangles = nacre::tests::sanitized ? "3000" : "20000";
  const outcome got = run(previous + bin + "mesh2d pipe --subdomains 12 --check --json --triangles " + triangles + " " +
                          GetParam().suffix);
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
  const outcome result = run(bin + "mesh2d " + path("thin.poly") + " --check --out " + path("thin"));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("where the input forbids it"), std::string::npos) << result.output;
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
  EXPECT_EQ(run(bin + "mesh2d square --out " + path("none/mesh.vtu")).exit_code, 2);
  files::remove_all(folder);
}

TEST(mesh2d_program, takes_a_size_field_on_every_rank_and_ends_with_one_line_about_a_faulty_one) {
  const std::string several = bin + "nacre run -n 3 " + bin + "mesh2d square --check --subdomains 9 --size ";
  const outcome sound = run(several + "'0.01 + 0.1*sqrt(x^2 + y^2)'");
  const bool reads = sound.output.find("built without muParser") == std::string::npos;
  EXPECT_EQ(sound.exit_code, reads ? 0 : 2) << sound.output;
  for (const std::string size : {"'0.01 + * x'", "'x - 0.5'", "'abs(x - 0.3000001) > 0.002 ? 0.02 : -1'", "none.asc"}) {
    const outcome faulty = run(several + size);
    EXPECT_EQ(faulty.exit_code, 2) << faulty.output;
    EXPECT_NE(faulty.output.find("mesh2d: --size "), std::string::npos) << faulty.output;
    EXPECT_EQ(std::count(faulty.output.begin(), faulty.output.end(), '\n'), 1) << faulty.output;
  }
}

TEST(mesh2d_program, writes_its_input_and_triangulates_it_without_new_points) {
  const files::path folder = files::temp_directory_path() / ("mesh2d_poly_" + std::to_string(getpid()));
  files::create_directory(folder);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const outcome first =
      run(bin + "mesh2d pipe --no-refine --check --write-poly " + path("pipe.poly") + " --out " + path("first"));
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_NE(first.output.find(": 368 triangles in 1 subdomains"), std::string::npos) << first.output;
  const outcome again =
      run(bin + "nacre run -n 2 " + bin + "mesh2d " + path("pipe.poly") + " --no-refine --out " + path("again"));
  EXPECT_EQ(again.exit_code, 0) << again.output;
  for (const char* ending : {".node", ".ele"}) {
    std::ifstream one(path("first") + ending), other(path("again") + ending);
    const std::string text((std::istreambuf_iterator<char>(one)), {});
    EXPECT_GT(text.size(), 1000u);
    EXPECT_EQ(text, std::string((std::istreambuf_iterator<char>(other)), {})) << ending;
  }
  EXPECT_EQ(run(bin + "mesh2d " + path("pipe.poly") + " --write-poly " + path("pipe.poly")).exit_code, 2);
  EXPECT_EQ(run(bin + "mesh2d pipe --no-refine --area 0.1").exit_code, 2);
  files::remove_all(folder);
}

}  // namespace
