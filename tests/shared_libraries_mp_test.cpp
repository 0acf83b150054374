// SPDX-License-Identifier: Apache-2.0
// A program, plugins and a Python module that each use libnacre.so share one runtime and one job.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "launched.hpp"
#include "transports.hpp"

namespace {

using namespace nacre::tests;

const std::string folder = NACRE_SHARED_TESTS_DIR;
const std::string plugin = folder + "/plugin.so";
const std::string hidden_plugin =
    folder + "/hidden_plugin.so";  // whose symbols are hidden, so that it has keys of its own

/// The words that start `command` as a job of two ranks: in one process, or under `nacre run`.
std::vector<std::string> job_of(const std::string& transport, const std::vector<std::string>& command) {
  std::vector<std::string> words{"env"};
  if (transport == "inproc") {
    words.insert(words.end(), {"NACRE_TRANSPORT=inproc", "NACRE_RANKS=2"});
  } else {
    words = start_of(transport, 2).words;
  }
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The job of `command` goes well, says so as often as is said, and nothing else.
void expect_well(const std::string& transport, const std::vector<std::string>& command, const std::string& said) {
  const outcome got = launched(job_of(transport, command)).end();
  EXPECT_EQ(code_of(got), 0) << transport << '\n' << got.output << got.errors;
  std::vector<std::string> lines = lines_of(got.output);  // those of two processes come in any order
  std::sort(lines.begin(), lines.end());
  std::vector<std::string> expected = lines_of(said);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines, expected) << transport;
  EXPECT_EQ(got.errors, "") << transport;
}

/// What a program prints that says "well" in each of its processes.
std::string well(const std::string& transport) { return transport == "inproc" ? "well\n" : "well\nwell\n"; }

class shared_libraries : public testing::TestWithParam<const char*> {
 protected:
  static std::vector<std::string> program(const std::string& mode, const std::string& first = plugin,
                                          const std::string& second = hidden_plugin) {
    return {folder + "/shared_program", mode, first, second};
  }
};

TEST_P(shared_libraries, share_one_job_with_the_program) {
  expect_well(GetParam(), program("share"), well(GetParam()));
  expect_well(GetParam(), program("share", hidden_plugin, plugin), well(GetParam()));
}

TEST_P(shared_libraries, that_are_closed_in_a_job_stay_until_its_end) {
  const std::string once = "gone\nwell\n";
  expect_well(GetParam(), program("close_in_job", hidden_plugin),
              std::string(GetParam()) == "inproc" ? once : once + once);
}

TEST_P(shared_libraries, that_are_loaded_in_a_job_have_no_place_in_it_and_say_so) {
  const outcome got = launched(job_of(GetParam(), program("load_in_job", hidden_plugin))).end();
  EXPECT_EQ(code_of(got), 1) << got.output << got.errors;
  const std::string remedy =
      " of a library that was loaded while the job ran (the ranks agree on the numbers of handlers and classes when a "
      "job begins): load it before nacre::run";
  EXPECT_TRUE(contains(got.output, "own, a class" + remedy)) << got.output;
  EXPECT_TRUE(contains(got.errors, "names a handler" + remedy)) << got.errors;
  EXPECT_FALSE(contains(got.errors, "went wrong")) << got.errors;
}

TEST_P(shared_libraries, share_a_job_of_python) {
  const std::vector<std::string> script{NACRE_PYTHON, NACRE_SOURCE_DIR "/tests/shared_libraries/script.py", folder,
                                        plugin, hidden_plugin};
  if (std::string(NACRE_PYTHON).empty()) GTEST_SKIP() << "no headers of Python (python3-dev)";
  expect_well(GetParam(), script, well(GetParam()));
}

TEST_P(shared_libraries, share_a_job_of_a_program_that_contains_python) {
  const std::string with_python = folder + "/shared_with_python";
  if (access(with_python.c_str(), X_OK) != 0) GTEST_SKIP() << "no library of Python (python3-dev)";
  expect_well(GetParam(), {with_python, folder, hidden_plugin}, "well\n");
}

INSTANTIATE_TEST_SUITE_P(over, shared_libraries, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

TEST(libraries_in_a_process, come_and_go_between_jobs) {
  expect_well("inproc", {folder + "/shared_program", "load_again", plugin, hidden_plugin}, "well\n");
}

TEST(libraries_in_a_process, run_jobs_of_their_own_in_turn) {
  expect_well("inproc", {folder + "/shared_program", "own_jobs", plugin, hidden_plugin}, "well\n");
}

TEST(libraries_in_a_process, that_differ_between_ranks_are_refused) {
  const std::string program = folder + "/shared_program";
  std::vector<std::string> words = start_of("tcp", 2).words;
  words.insert(words.end(), {"sh", "-c",
                             "if [ $NACRE_JOB_RANK = 0 ]; then exec " + program + " share " + plugin + " " +
                                 hidden_plugin + "; fi; exec " + program + " share " + plugin + " " + plugin});
  const outcome got = launched(words).end();
  EXPECT_NE(code_of(got), 0) << got.output;
  EXPECT_TRUE(contains(got.errors, "it has other handlers")) << got.errors;
}

}  // namespace
