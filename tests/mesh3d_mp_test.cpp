// SPDX-License-Identifier: Apache-2.0
// The program mesh3d makes meshes that pass its check, on any transport, and says what is wrong with an option.
#include <gtest/gtest.h>

#include <algorithm>
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

/// A way to run mesh3d: what stands before and behind the program's name.
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
    {"two_processes_over_tcp", "nacre run -n 2 --transport tcp ", ""},
    {"two_processes_over_udp", "nacre run -n 2 --transport udp ", "--nacre.balancer=diffusion"},
    {"simulated_8", "", "--nacre.transport=sim --nacre.ranks=8 --nacre.balancer=diffusion"},
};

class mesh3d_program : public testing::TestWithParam<way> {};

TEST_P(mesh3d_program, passes_its_check) {
  const std::string previous = GetParam().prefix[0] == '\0' ? "" : bin + GetParam().prefix;
  const std::string size = nacre::tests::sanitized ? "0.15" : "0.08";
  const outcome got = run(previous + bin + "mesh3d --subdomains 12 --check --json --size-at 0.3,0.2,0.4,0.03 --size " +
                          size + " " + GetParam().suffix);
  ASSERT_EQ(got.exit_code, 0) << got.output;
  const auto json = nlohmann::json::parse(got.output);
  EXPECT_TRUE(json.at("check").at("passed"));
  EXPECT_GE(json.at("subdomains").get<int>(), 12);
  EXPECT_GT(json.at("check").at("facets_between_subdomains").get<int>(), 500);
}

TEST_P(mesh3d_program, meshes_a_surface) {
  const std::string previous = GetParam().prefix[0] == '\0' ? "" : bin + GetParam().prefix;
  const std::string size = nacre::tests::sanitized ? "0.15" : "0.09";
  const outcome got = run(previous + bin + "mesh3d ellipsoid --subdomains 12 --check --json --curvature 12 --size " +
                          size + " " + GetParam().suffix);
  ASSERT_EQ(got.exit_code, 0) << got.output;
  const auto json = nlohmann::json::parse(got.output);
  EXPECT_TRUE(json.at("check").at("passed"));
  const auto& surface = json.at("surface");
  EXPECT_GT(surface.at("tetrahedra_inside").get<int>(), 300);
  EXPECT_LT(surface.at("corners_off_percent").get<double>(), 6);
  EXPECT_NEAR(surface.at("mesh_volume").get<double>() / surface.at("volume").get<double>(), 1, 0.1);
  EXPECT_NEAR(surface.at("volume").get<double>(), 4.18879 * 0.6 * 0.35, 0.001);
}

INSTANTIATE_TEST_SUITE_P(every_way, mesh3d_program, testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.title); });

TEST(mesh3d_program, writes_files_and_refuses_wrong_options) {
  const files::path folder = files::temp_directory_path() / ("mesh3d_" + std::to_string(getpid()));
  files::create_directory(folder);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const auto bytes_of = [](const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const char* ranks : {"1", "3"}) {
    const outcome result = run(bin + "mesh3d --size 0.1 --subdomains 8 --nacre.ranks=" + ranks + " --costs " +
                               path("costs.json") + " --out " + path(ranks) + ".svg");
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_NE(bytes_of(path(ranks) + ".svg").find("<path fill="), std::string::npos);
  }
  EXPECT_EQ(nlohmann::json::parse(bytes_of(path("costs.json"))).size(), 8u);
  EXPECT_EQ(run(bin + "mesh3d --out " + path("mesh.obj")).exit_code, 2);
  EXPECT_EQ(run(bin + "mesh3d --size 0.3 --out " + path("none/mesh.vtu")).exit_code, 2);  // before any work
  const outcome refused = run(bin + "mesh3d --size-at 0.5,0.5");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.output.find("--size-at has no value '0.5,0.5'"), std::string::npos) << refused.output;
  files::remove_all(folder);
}

TEST(mesh3d_program, reads_surfaces_and_says_which_cannot_be_meshed) {
  const files::path folder = files::temp_directory_path() / ("mesh3d_surface_" + std::to_string(getpid()));
  files::create_directory(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string points = "v 10 0 0\nv 12 0 0\nv 10 2 0\nv 10 0 2\n";
  const std::string whole =  // a box, whose second face is continued in the next line
      write("whole.obj",
            "v 10 0 0\nv 12 0 0\nv 12 2 0\nv 10 2 0\nv 10 0 2\nv 12 0 2\nv 12 2 2\nv 10 2 2\n"
            "f 1 4 3 2\nf 5 6 \\\n7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
  const std::string vtu = (folder / "whole.vtu").string();
  const outcome result = run(bin + "mesh3d " + whole + " --size 0.1 --check --json --keep both --out " + vtu);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NEAR(nlohmann::json::parse(result.output).at("surface").at("volume").get<double>(), 8, 1e-9);
  EXPECT_GT(files::file_size(vtu), 10'000u);
  const auto expect_refused = [](const std::string& arguments, const std::string& said) {
    const outcome got = run(bin + "mesh3d " + arguments);
    EXPECT_EQ(got.exit_code, 2) << got.output;
    EXPECT_NE(got.output.find(said), std::string::npos) << got.output;
    EXPECT_EQ(std::count(got.output.begin(), got.output.end(), '\n'), 1) << got.output;
  };
  const std::string open = write("open.obj", points + "f 1 3 2\nf 1 2 4\nf 1 4 3\n");
  expect_refused(open, "the edge from (10, 2, 0) to (12, 0, 0) of the face at line 5 has no other triangle");
  expect_refused(open + " --nacre.ranks=2", "the surface is open there");
  expect_refused(write("bad.obj", points + "f 1 3 9\n"), "bad.obj:5: there is no point 9");
  expect_refused("nothing.off", "nothing.off cannot be read");
  expect_refused("pyramid", "'pyramid' is no surface");
  expect_refused("sphere --margin 0", "--margin");
  expect_refused("--size 0", "--size");
  expect_refused("--size nan", "--size");
  files::remove_all(folder);
}

}  // namespace
