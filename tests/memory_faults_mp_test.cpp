// SPDX-License-Identifier: Apache-2.0
// A job over shm one of whose ranks is killed in the middle of a copy from the memory of one process to that of
// another.
//
// The executable is its own rank program: `memory_faults_mp_test --as-rank WHO WAY WHAT`, see act_as_rank.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transport/shm/held_call_test_kit.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

using transport::shm::filter_scope;
using transport::shm::held_calls;

constexpr std::uint32_t copier = 1, owner = 2, ranks = 3;
constexpr std::size_t much = 4u << 20;  // numbers
constexpr int no_such_kernel = 77;

/// The copier's part, in a thread that copies nothing: its first copy is held, in the middle of which somebody dies.
void die_in_a_copy(held_calls& copies, bool the_owner) {
  for (bool first = true; copies.wait_for_one(); first = false) {
    const auto peer = static_cast<pid_t>(copies.first_argument());
    if (first) {
      ::kill(peer, SIGUSR1);
      ::kill(the_owner ? peer : ::getpid(), SIGKILL);
    }
    copies.go_on();
  }
}

std::atomic<bool> copy_has_begun{false};

/// The owner's part, in which one of the two dies.
void move_much(runtime& rt, remote_memory<std::uint64_t> remote_memory, bool put, bool drop) {
  std::vector<std::uint64_t> values(much, 7);
  auto done = put ? rt.put(remote_memory, 0, std::span<const std::uint64_t>(values))
                  : rt.get(remote_memory, 0, std::span(values));
  if (!drop) return done.get();
  while (!copy_has_begun) std::this_thread::yield();
  done = {};
}

/// `--as-rank copier|owner put|get await|drop`: who dies, in which transfer, and what its caller does meanwhile.
int act_as_rank(int argc, char** argv) {
  const config configuration = read_config(argc, argv);
  const std::string_view name = argv[2], way = argv[3], text = argv[4];
  ::signal(SIGUSR1, [](int) { copy_has_begun = true; });
  return run(configuration, [&](runtime& rt) {
    std::vector<std::uint64_t> values(rt.rank().value() == copier ? much : 0);
    const auto remote_memory = rt.broadcast(rt.expose(std::span(values)), rank_id(copier));
    if (rt.rank().value() == copier) {
      const int call = way == "put" ? SYS_process_vm_readv : SYS_process_vm_writev;
      static held_calls copies(call, filter_scope::this_process);
      if (!copies.able()) ::_exit(no_such_kernel);
      std::thread(die_in_a_copy, std::ref(copies), name == "owner").detach();
    }
    rt.barrier();
    if (rt.rank().value() == owner) move_much(rt, remote_memory, way == "put", text == "drop");
    while (rt.rank().value() == copier && name == "copier") ::pause();  // until it is killed, however late that is
    rt.barrier();
    std::printf("somebody has survived\n");
  });
}

struct fault {
  const char *culprit, *way, *effect;
  friend void PrintTo(const fault& fault, std::ostream* out) {
    *out << fault.culprit << "_dies_in_a_" << fault.way << "_" << fault.effect;
  }
};

class killed_in_a_copy : public testing::TestWithParam<fault> {};

INSTANTIATE_TEST_SUITE_P(over_shm, killed_in_a_copy,
                         testing::Values(fault{"copier", "put", "await"}, fault{"copier", "get", "await"},
                                         fault{"copier", "put", "drop"}, fault{"copier", "get", "drop"},
                                         fault{"owner", "put", "await"}, fault{"owner", "get", "await"}),
                         testing::PrintToStringParamName());

TEST_P(killed_in_a_copy, ends_the_job_within_seconds_with_one_line_that_names_it) {
  const auto& [culprit, way, effect] = GetParam();
  const outcome got = launched(nacre_with({"run", "-n", std::to_string(ranks), "--transport", "shm", own_path(),
                                           "--as-rank", culprit, way, effect, "--nacre.workers=1"}))
                          .end();
  if (got.errors.find("exit code " + std::to_string(no_such_kernel)) != std::string::npos) {
    GTEST_SKIP() << "this kernel does not hold system calls";
  }
  EXPECT_LT(got.seconds, unhurried_end);
  EXPECT_GT(code_of(got), 0);
  const std::uint32_t dead = std::string_view(culprit) == "owner" ? owner : copier;
  const auto errors = lines_of(got.errors);
  ASSERT_EQ(errors.size(), 1u) << got.errors;
  EXPECT_NE(errors[0].find("rank " + std::to_string(dead) + " was killed by signal 9"), std::string::npos) << errors[0];
  EXPECT_EQ(got.output, "");
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "--as-rank") return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
