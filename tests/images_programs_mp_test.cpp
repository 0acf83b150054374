// SPDX-License-Identifier: Apache-2.0
// The project's programs go on from images, on another number of ranks, and their own checks say that all is right.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

#include "shell_command.hpp"

namespace nacre::tests {
namespace {

struct program {
  const char* name;
  const char* command;   ///< below the folder of the build's programs
  const char* verified;  ///< a line of the output
};

class program_with_images : public testing::TestWithParam<program> {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] shell_outcome run(int ranks, const std::string& options) const {
    return run_in_shell(NACRE_BIN_DIR "/nacre run -n " + std::to_string(ranks) + " " + NACRE_BIN_DIR "/" +
                        GetParam().command + " --nacre.workers=1 " + options + " 2>&1");
  }
  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("nacre_programs." + std::to_string(getpid()))).string();
};

TEST_P(program_with_images, goes_on_from_its_last_image_on_another_number_of_ranks) {
  const std::string command = GetParam().command, name = command.substr(0, command.find(' '));
  if (!std::filesystem::exists(NACRE_BIN_DIR "/" + name)) GTEST_SKIP() << "this build has no " << name;
  const shell_outcome whole = run(3, "--nacre.checkpoint.folder=" + folder_ + " --nacre.checkpoint.every=1us");
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  EXPECT_NE(whole.output.find(GetParam().verified), std::string::npos) << whole.output;
  ASSERT_TRUE(std::filesystem::exists(folder_));
  for (const int ranks : {2, 4}) {
    const shell_outcome rest = run(ranks, "--nacre.restore=" + folder_);
    EXPECT_EQ(rest.exit_code, 0) << rest.output;
    EXPECT_EQ(rest.output.find("begins anew"), std::string::npos) << rest.output;
    EXPECT_NE(rest.output.find(GetParam().verified), std::string::npos) << rest.output;
  }
}
INSTANTIATE_TEST_SUITE_P(
    of, program_with_images,
    testing::Values(program{"netsort", "netsort --values 64 --keys 50 --repetitions 4", "\nsorted"},
                    program{"mesh2d", "mesh2d key --triangles 30000 --subdomains 8 --check", "check: passed"},
                    program{"mesh2d_rounds", "mesh2d key --triangles 30000 --subdomains 8 --check --deterministic",
                            "check: passed"},
                    program{"synthetic", "synthetic --light 0.01 --work sleep", "every object exactly computed"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace nacre::tests
