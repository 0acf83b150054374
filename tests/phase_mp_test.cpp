// SPDX-License-Identifier: Apache-2.0
// Phases of ranks that are processes come together in the summary of rank 0, and in the report of their traces.
//
// The executable is its own rank program: `phase_mp_test --as-rank`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <nacre/nacre.hpp>

#include "launched.hpp"

namespace {

using namespace nacre::tests;

/// Every rank meets the names in another order, so that one name has several numbers.
void work_in_phases(nacre::context& ctx) {
  const auto rank = ctx.rank().value();
  const auto spend = [&](const char* name, double seconds) {
    const nacre::phase phase(ctx, name);
    const double until = ctx.now() + seconds;
    while (ctx.now() < until) continue;
  };
  const nacre::phase surroundings(ctx, "own of rank " + std::to_string(rank));
  if (rank == 1) spend("second", 1e-3);
  spend("first", rank == 2 ? 50e-3 : 1e-3);
  if (rank != 1) spend("second", 1e-3);
}

void rank_with_phases(nacre::runtime& rt) {
  const nacre::phase phase(rt, "main");
  rt.send<work_in_phases>(rt.rank());
  rt.wait_quiescence();
}

class phases_of_processes : public testing::TestWithParam<const char*> {};

TEST_P(phases_of_processes, come_together) {
  std::string folder = testing::TempDir() + "nacre_phases_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const outcome got =
      nacre_command({"run", "-n", "3", "--transport", GetParam(), own_path(), "--as-rank", "--nacre.workers=1",
                     "--nacre.trace=" + folder + "/trace", "--nacre.summary_json=" + folder + "/summary"});
  ASSERT_EQ(code_of(got), 0) << got.errors;
  std::ifstream file(folder + "/summary");
  const auto all = nlohmann::json::parse(file);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : all["phases"]) rows[row["name"]] = row;
  ASSERT_EQ(rows.size(), 6U);
  for (const char* name : {"main", "first", "second"}) EXPECT_EQ(rows.at(name)["count"], 3) << name;
  for (const char* name : {"own of rank 0", "own of rank 1", "own of rank 2"}) EXPECT_EQ(rows.at(name)["count"], 1);
  EXPECT_GE(rows.at("first")["seconds"].get<double>(), 52e-3);
  EXPECT_EQ(rows.at("first")["most_rank"], 2);
  EXPECT_EQ(rows.at("own of rank 1")["most_rank"], 1);

  const outcome report = nacre_command({"report", folder + "/trace", "--format", "text"});
  std::filesystem::remove_all(folder);
  ASSERT_EQ(code_of(report), 0) << report.errors;
  for (const auto& [name, row] : rows) EXPECT_NE(report.output.find("  " + name + "\n"), std::string::npos) << name;
}

INSTANTIATE_TEST_SUITE_P(transports, phases_of_processes, testing::Values("tcp", "shm"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--as-rank") return nacre::run(argc, argv, rank_with_phases);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
