// SPDX-License-Identifier: Apache-2.0
// A signal asks for a last image while one wait is the whole work; the job ends in the middle of it, and goes on from
// there.
//
// The executable is its own rank program: `last_image_in_wait_mp_test --as-rank WAY HOPS SECONDS`; the seconds are of a
// hop of a token.
#include <gtest/gtest.h>

#include <poll.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

#include <nacre/nacre.hpp>

#include "last_image.hpp"

namespace {

/// Tokens go from one to the next.
struct stop {
  std::uint64_t sum = 0;
  void pass(nacre::context& ctx, nacre::array_ptr<stop> line, std::uint64_t token, int left) {
    ctx.charge(1e-3);
    ::poll(nullptr, 0, hop_ms);
    if (++passed == 10) std::printf("tokens are under way\n");
    sum += token * static_cast<std::uint64_t>(left);
    if (left != 0) ctx.send<&stop::pass>(line[{(ctx.index()[0] + 7) % stops}], line, token, left - 1);
  }
  std::uint64_t read() const { return sum; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum);
  }
  static constexpr std::int64_t stops = 60;
  static inline std::atomic<int> hop_ms{0};  // of all ranks
  static inline std::atomic<int> passed{0};  // in this process
};
struct line_of_stops {
  nacre::array_ptr<stop> line;
};

void work_in_one_wait(nacre::runtime& rt, int hops, double seconds) {
  stop::hop_ms = static_cast<int>(1e3 * seconds);
  const auto tell = [&] { std::printf("rank %u is process %d, at work\n", rt.rank().value(), ::getpid()); };
  tell();
  auto stops = rt.restored<line_of_stops>();
  if (!stops) {
    stops = line_of_stops{rt.create_array<stop>(nacre::extents{stop::stops})};
    if (rt.rank().value() == 0) {
      for (std::uint64_t token = 1; token <= 6; ++token)
        rt.send<&stop::pass>(stops->line[{static_cast<std::int64_t>(10 * token) - 5}], stops->line, token, hops);
    }
    rt.wait_quiescence(*stops);
  }
  const std::uint64_t sum = rt.reduce<&stop::read>(stops->line, std::plus<>{}).get();
  if (rt.rank().value() == 0) std::printf("sum %llu\n", static_cast<unsigned long long>(sum));
}

int be_rank(int argc, char** argv) {
  const int hops = std::atoi(argv[3]);
  const double seconds = std::atof(argv[4]);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return nacre::run(argc, argv, [&](nacre::runtime& rt) { work_in_one_wait(rt, hops, seconds); });
}

}  // namespace

namespace nacre::tests {
namespace {

struct last_image_over : last_image, testing::WithParamInterface<const char*> {};

TEST_P(last_image_over, is_taken_in_the_middle_of_a_long_wait) {
  words more;
  for (int time = 0; time < 2; ++time) {  // then from within rt.restored
    launched running(job(GetParam(), "one wait", unhurried, more));
    running.read_until("under way");
    running.signal(SIGTERM);
    const outcome got = running.end();
    EXPECT_EQ(code_of(got), 75) << got.status << got.errors;
    EXPECT_EQ(got.output.find("sum"), std::string::npos) << got.output;
    EXPECT_EQ(got.errors.find("no image came"), std::string::npos) << got.errors;
    expect_error(got, "the job ends behind its last image, with code 75");
    more = {"--nacre.restore=" + images};
    if (time == 0) more.emplace_back("--nacre.checkpoint.every=300ms");
  }
  expect_result_after(GetParam(), "one wait");
}

INSTANTIATE_TEST_SUITE_P(over, last_image_over, testing::Values("shm", "tcp", "udp", "inproc"),
                         [](const auto& given) { return std::string(given.param); });

/// Under simulation a signal is looked for when an image is due.
TEST_F(last_image, is_taken_in_the_middle_of_a_simulated_wait) {
  launched running({own_path(), "--as-rank", "one wait", steps, "0.01", "--nacre.transport=sim", "--nacre.ranks=3",
                    "--nacre.checkpoint.folder=" + images, "--nacre.checkpoint.every=20ms"});
  running.read_until("under way");
  running.signal(SIGTERM);
  const outcome got = running.end();
  EXPECT_EQ(code_of(got), 75) << got.status << got.errors;
  EXPECT_EQ(got.output.find("sum"), std::string::npos) << got.output;
  expect_result_after("shm", "one wait");
}

TEST_F(last_image, in_a_wait_is_asked_for_by_a_signal_to_any_rank_of_mpirun) {
  ends_by_signal_under_mpirun(*this, "one wait");
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 4 && std::strcmp(argv[1], "--as-rank") == 0) return be_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
