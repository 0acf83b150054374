// SPDX-License-Identifier: Apache-2.0
// Programs that end by themselves after a signal.
//
// The executable is its own rank program: `stop_mp_test --as-rank`.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include <nacre/nacre.hpp>

#include "launched.hpp"

namespace {

/// Rank 1 alone gets a signal. All ranks end, and tell how many handlers have run.
int serve(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    rt.handle_signals();
    rt.barrier();
    if (rt.rank().value() == 1) std::raise(SIGTERM);
    while (!rt.stop_requested()) rt.sleep(0.01).wait();
    std::printf("rank %u ends\n", rt.rank().value());
  });
}

}  // namespace

namespace nacre::tests {
namespace {

class stops : public testing::TestWithParam<const char*> {};

TEST_P(stops, every_rank_hears_of_the_signal_of_one_and_the_job_ends_well) {
  const outcome ran =
      launched({NACRE_BIN_DIR "/nacre", "run", "-n", "6", "--transport", GetParam(), own_path(), "--as-rank"}).end();
  EXPECT_TRUE(WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0) << ran.status << ran.errors;
  for (const char* rank : {"rank 0 ends", "rank 1 ends", "rank 5 ends"}) {
    EXPECT_NE(ran.output.find(rank), std::string::npos) << ran.output;
  }
  EXPECT_NE(ran.errors.find("asked to stop"), std::string::npos) << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(over, stops, testing::Values("shm", "tcp"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--as-rank") == 0) return serve(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
