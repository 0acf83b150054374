// SPDX-License-Identifier: Apache-2.0
// The program mesh3d makes meshes that pass its check, on any transport, and says what is wrong with an option.
#include <gtest/gtest.h>

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
  const char* before;
  const char* behind;
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
  const std::string before = GetParam().before[0] == '\0' ? "" : bin + GetParam().before;
  const std::string size = nacre::tests::sanitized ? "0.15" : "0.08";
  const outcome got = run(before + bin + "mesh3d --subdomains 12 --check --json --size-at 0.3,0.2,0.4,0.03 --size " +
                          size + " " + GetParam().behind);
  ASSERT_EQ(got.exit_code, 0) << got.output;
  const auto json = nlohmann::json::parse(got.output);
  EXPECT_TRUE(json.at("check").at("passed"));
  EXPECT_GE(json.at("subdomains").get<int>(), 12);
  EXPECT_GT(json.at("check").at("facets_between_subdomains").get<int>(), 500);
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
    const outcome made = run(bin + "mesh3d --size 0.1 --subdomains 8 --nacre.ranks=" + ranks + " --costs " +
                             path("costs.json") + " --out " + path(ranks) + ".svg");
    EXPECT_EQ(made.exit_code, 0) << made.output;
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

}  // namespace
