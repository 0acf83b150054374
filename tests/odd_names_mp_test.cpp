// SPDX-License-Identifier: Apache-2.0
// Names with bytes that are no UTF-8: programs are traced, measured and shown all the same, and JSON can be read.
#include "launched.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using namespace nacre::tests;

const std::string odd = "b\xff\"1\xc3";

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class odd_names : public testing::Test {
 protected:
  odd_names() : folder_(testing::TempDir() + "nacre_odd_names_XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    program_ = folder_ + "/" + odd;
    std::filesystem::create_symlink(NACRE_BIN_DIR "/uts", program_);
  }
  ~odd_names() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::string program_;
};

TEST_F(odd_names, of_programs_and_files_go_into_traces_reports_and_summaries) {
  const std::string trace = program_ + ".trace", summary = program_ + ".json", shown = program_ + ".shown";
  const outcome run = launched({program_, "--type=geometric", "--depth=4", "--json", "--nacre.ranks=2",
                                "--nacre.trace=" + trace, "--nacre.summary_json=" + summary})
                          .end();
  ASSERT_EQ(code_of(run), 0) << run.errors;
  EXPECT_EQ(run.errors, "");
  EXPECT_TRUE(nlohmann::json::accept(run.output)) << run.output;
  EXPECT_TRUE(nlohmann::json::accept(content_of(summary)));
  for (const std::string format : {"html", "perfetto", "text", "paraver"}) {
    std::vector<std::string> command{"report", trace, "--format", format};
    if (format != "text") command.insert(command.end(), {"-o", shown});
    const outcome got = nacre_command(command);
    EXPECT_EQ(code_of(got), 0) << format << got.errors;
    if (format == "perfetto") {
      EXPECT_TRUE(nlohmann::json::accept(content_of(shown)));
    }
  }
}

TEST_F(odd_names, of_ranks_programs_are_no_hindrance_to_nacre_run) {
  const outcome run = nacre_command(
      {"run", "-n", "2", program_, "--type=geometric", "--depth=4", "--quiet", "--nacre.trace=" + program_ + ".trace"});
  EXPECT_EQ(code_of(run), 0) << run.errors;
  EXPECT_EQ(code_of(nacre_command({"report", program_ + ".trace", "--format", "text"})), 0);
}

}  // namespace
