// SPDX-License-Identifier: Apache-2.0
// Programs are found as a shell finds them; a file that cannot be run is refused with the reason.
#include "tool/program.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

/// A folder with an executable `tool` and a plain file `text`.
class program : public ::testing::Test {
 protected:
  program() : folder_(std::filesystem::path(::testing::TempDir()) / ("nacre_program_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "tool") << "#!/bin/sh\n";
    std::ofstream(folder_ / "text") << "words\n";
    ::chmod((folder_ / "tool").c_str(), 0755);
  }
  ~program() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  [[nodiscard]] static std::string complaint(const std::string& name, const std::string& search_path) {
    try {
      return "found " + find_program(name, search_path);
    } catch (const setup_error& error) {
      return error.what();
    }
  }

  std::filesystem::path folder_;
};

TEST_F(program, is_found_by_its_path_or_in_the_search_path) {
  EXPECT_EQ(find_program(path("tool"), ""), path("tool"));
  EXPECT_EQ(find_program("tool", "/nowhere:" + folder_.string() + ":/bin"), path("tool"));
}

TEST_F(program, that_does_not_exist_is_named) {
  EXPECT_EQ(complaint(path("none"), "").find("there is no program '" + path("none") + "'"), 0U);
  EXPECT_EQ(complaint("none", folder_.string()).find("there is no program 'none' in the folders of PATH"), 0U);
}

TEST_F(program, that_is_not_executable_or_a_directory_is_refused) {
  EXPECT_NE(complaint(path("text"), "").find("is not executable"), std::string::npos);
  EXPECT_NE(complaint(folder_.string(), "").find("is a directory"), std::string::npos);
  EXPECT_NE(complaint("text", folder_.string()).find("there is no program"), std::string::npos);
}

}  // namespace
}  // namespace nacre::tool
