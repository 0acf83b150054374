// SPDX-License-Identifier: Apache-2.0
// For tests of phases: runs jobs, and reads the phases of their summaries.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include <nacre/nacre.hpp>

namespace nacre::tests {

inline config phases_under_sim(const char* ranks = "1", const char* workers = "1") {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", ranks);
  configuration.set("workers", workers);
  return configuration;
}

/// The rows of the summary, by name.
inline std::map<std::string, nlohmann::json> phases_of(config configuration,
                                                       const std::function<void(runtime&)>& main) {
  const std::string path =
      testing::TempDir() + "nacre_phases_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  configuration.set("summary_json", path);
  EXPECT_EQ(run(configuration, main), 0);
  std::ifstream file(path);
  const auto all = nlohmann::json::parse(file);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : all["phases"]) rows[row["name"]] = row;
  std::remove(path.c_str());
  return rows;
}

}  // namespace nacre::tests
