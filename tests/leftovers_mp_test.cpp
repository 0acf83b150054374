// SPDX-License-Identifier: Apache-2.0
// What ranks leave behind in the file system when they are killed is removed.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "launched.hpp"
#include "stopwatch.hpp"

namespace {

using namespace nacre::tests;
namespace fs = std::filesystem;

/// Two ranks that make a file where UCX would, and say where.
std::vector<std::string> ranks_that(const std::string& end) {
  return {NACRE_BIN_DIR "/nacre",
          "run",
          "-n",
          "2",
          "sh",
          "-c",
          "touch $UCX_POSIX_DIR/ucx_shm_posix_$$ && echo $UCX_POSIX_DIR; " + end};
}

bool goes(const fs::path& folder) {
  for (stopwatch taken; fs::exists(folder) && taken.look() < patience_seconds;) ::poll(nullptr, 0, 20);
  return !fs::exists(folder);
}

TEST(leftovers, of_ucx_go_when_ranks_are_killed_or_end) {
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm that can be written";
  for (const std::string end : {"kill -9 $$", "exit 0"}) {
    const outcome got = launched(ranks_that(end)).end();
    ASSERT_FALSE(lines_of(got.output).empty()) << got.errors;
    const std::string folder = lines_of(got.output).front();
    EXPECT_TRUE(folder.starts_with("/dev/shm/")) << folder;
    EXPECT_FALSE(fs::exists(folder)) << end;
  }
}

TEST(leftovers, of_ucx_go_when_the_launcher_is_killed) {
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm that can be written";
  launched job(ranks_that("sleep 600"));
  job.read_until("/dev/shm/");
  while (lines_of(job.output()).size() < 2) job.read_until(job.output() + "/");
  const std::string folder = lines_of(job.output()).front();
  ASSERT_TRUE(fs::exists(folder)) << folder;
  job.signal(SIGKILL);
  EXPECT_TRUE(goes(folder)) << folder;
}

TEST(leftovers, of_ucx_are_where_the_user_wants_them) {
  const outcome got = launched({"/bin/sh", "-c",
                                "UCX_POSIX_DIR=/tmp exec " NACRE_BIN_DIR "/nacre run -n 1 sh -c 'echo $UCX_POSIX_DIR'"})
                          .end();
  EXPECT_EQ(got.output, "/tmp\n");
}

}  // namespace
