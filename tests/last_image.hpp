// SPDX-License-Identifier: Apache-2.0
// Jobs that a signal asks for a last image; the test's own executable is their program.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/sanitized.hpp"
#include "launched.hpp"

namespace nacre::tests {

inline constexpr const char* steps = "200";
inline constexpr const char* unhurried = "0.05";  // a job of 10 s, which is asked to end in its first one

struct last_image : testing::Test {
  void TearDown() override { std::filesystem::remove_all(folder); }
  void SetUp() override { std::filesystem::create_directory(folder); }
  using words = std::vector<std::string>;
  /// A job of three ranks that writes images: processes of the launcher, or threads of one if `transport` is inproc.
  [[nodiscard]] words job(const std::string& transport, const std::string& way, const std::string& pace,
                          const words& more = {}, const words& launcher = {}) const {
    words command{own_path()};
    if (transport != "inproc") {
      command = {NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--transport", transport};
      command.insert(command.end(), launcher.begin(), launcher.end());
      command.push_back(own_path());
    }
    for (const std::string& each : {std::string("--as-rank"), way, std::string(steps), pace,
                                    std::string("--nacre.workers=1"), "--nacre.checkpoint.folder=" + images})
      command.push_back(each);
    if (transport == "inproc") command.emplace_back("--nacre.ranks=3");
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  /// Its result when it is started again, and when nothing disturbs it.
  void expect_result_after(const std::string& transport, const std::string& way = "steps") const {
    const outcome rest = launched(job(transport, way, "0", {"--nacre.restore=" + images})).end();
    const outcome whole = launched({own_path(), "--as-rank", way, steps, "0", "--nacre.ranks=3"}).end();
    EXPECT_EQ(code_of(rest), 0) << rest.errors;
    ASSERT_NE(whole.output.find("sum"), std::string::npos) << whole.errors;
    EXPECT_EQ(rest.output.substr(rest.output.find("sum")), whole.output.substr(whole.output.find("sum")));
    EXPECT_EQ(rest.errors.find("begins anew"), std::string::npos) << rest.errors;
  }
  static void expect_error(const outcome& got, const char* text) {
    EXPECT_NE(got.errors.find(text), std::string::npos) << text << "\n" << got.errors;
  }
  std::string folder = testing::TempDir() + "nacre_last_image_mp." + std::to_string(::getpid());
  std::string images = folder + "/images";
};

/// The process of rank 1, once it is at work.
inline pid_t rank_one_of(launched& running) {
  constexpr std::string_view previous = "rank 1 is process ";
  running.read_until(previous);
  const std::string& said = running.output();
  const std::size_t place = said.find(previous);
  return place == std::string::npos ? 0 : std::atoi(said.c_str() + place + previous.size());
}

/// A signal to rank 1 under each mpirun that is there; the job does its work in that way (last_image::job).
inline void ends_by_signal_under_mpirun(const last_image& place, const std::string& way) {
  if (thread_sanitized) GTEST_SKIP() << "the thread sanitizer does not see what MPI synchronises";
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // those of MPI
  int present_count = 0;
  for (const std::string mpirun : {"mpirun.openmpi", "mpirun.mpich"}) {
    if (std::system(("command -v " + mpirun + " >/dev/null").c_str()) != 0) continue;
    ++present_count;
    std::filesystem::remove_all(place.images);
    last_image::words command{mpirun};
    if (mpirun == "mpirun.openmpi") command.insert(command.end(), {"--allow-run-as-root", "--oversubscribe"});
    for (const std::string& each :
         {std::string("-n"), std::string("2"), own_path(), std::string("--as-rank"), way, std::string(steps),
          std::string(unhurried), "--nacre.checkpoint.folder=" + place.images})
      command.push_back(each);
    launched running(command);
    const pid_t rank = rank_one_of(running);
    ASSERT_GT(rank, 1);
    ::kill(rank, SIGTERM);
    const outcome got = running.end();
    EXPECT_EQ(code_of(got), 75) << mpirun << got.status << got.errors;
    last_image::expect_error(got, "the job ends behind its last image, with code 75");
    place.expect_result_after("shm", way);
  }
  if (present_count == 0) GTEST_SKIP() << "there is no mpirun: apt-get install openmpi-bin mpich";
}

}  // namespace nacre::tests
