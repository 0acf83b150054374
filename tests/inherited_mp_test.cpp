// SPDX-License-Identifier: Apache-2.0
// What nacre run and a program take over from the process that starts them: signals, variables, a network.
//
// The executable is its own rank program (`--as-rank`), or a parent that ignores a signal (`--ignoring`).
#include "launched.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using namespace nacre::tests;

volatile std::sig_atomic_t asked_to_end = 0;

/// A rank that ends well when it gets SIGTERM.
void serve(nacre::runtime& rt) {
  rt.barrier();
  std::printf("ready\n");
  while (asked_to_end == 0) ::poll(nullptr, 0, 10);
  rt.barrier();
  std::printf("ended well\n");
}

void meet(nacre::runtime& rt) {
  rt.barrier();
  std::printf("met\n");
}

struct progress {
  int step = 0;
};

/// Three more steps, and then a helper.
void go_on(nacre::runtime& rt, const std::string& helper) {
  auto state = rt.restored<progress>().value_or(progress{});
  std::printf("begins at %d\n", state.step);
  rt.steps(state, state.step + 3, [](progress&) {});
  if (rt.rank().value() == 0 && std::system(helper.c_str()) != 0) std::printf("the helper has failed\n");
}

/// Neither the command line nor the environment is read.
int run_by_code(int argc, char** argv) {
  nacre::config configuration;
  configuration.set("workers", "1");
  configuration.set("summary", "true");
  configuration.set("checkpoint.folder", argv[3]);
  configuration.set("checkpoint.every", "1ns");
  if (argc > 4) configuration.set("transport", argv[4]);
  return nacre::run(configuration, [](nacre::runtime& rt) { go_on(rt, "true"); });
}

int start_helper_first(const std::string& helper, int argc, char** argv) {
  const std::string command = helper + "; exit 0";
  if (std::system(command.c_str()) != 0) return 99;
  return nacre::run(argc, argv, meet);
}

std::vector<std::string> ignoring(int signal, std::vector<std::string> command) {
  command.insert(command.begin(), {own_path(), "--ignoring", std::to_string(signal)});
  return command;
}

std::vector<std::string> service(const std::string& ranks) {
  return nacre_with({"run", "-n", ranks, own_path(), "--as-rank", "serves", "--nacre.workers=1"});
}

TEST(signals_that_the_parent_ignores, end_no_job) {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT}) {
    launched job(ignoring(number, service("2")));
    job.read_until("ready\nready\n");
    job.signal(number);
    job.signal(SIGTERM);
    const outcome got = job.end();
    EXPECT_EQ(code_of(got), 0) << number;
    EXPECT_EQ(got.output, "ready\nready\nended well\nended well\n") << number;
    EXPECT_EQ(got.errors, "") << number;
  }
}

TEST(signals_that_the_parent_ignores, keep_no_launcher_from_seeing_the_ends_of_ranks) {
  const auto code_with = [](const char* script) {
    return code_of(launched(ignoring(SIGCHLD, nacre_with({"run", "-n", "2", "sh", "-c", script}))).end());
  };
  EXPECT_EQ(code_with("exit 0"), 0);
  EXPECT_EQ(code_with("exit 3"), 3);
  EXPECT_EQ(code_with("kill -9 $$"), 128 + SIGKILL);
  const std::string own_children_are_told =
      "m=$(sed -n 's/^SigIgn:.*\\(.....\\)$/\\1/p' /proc/$$/status); "
      "case $m in [13579bdf]*) exit 9;; esac";  // bit 16 is SIGCHLD
  EXPECT_EQ(code_with(own_children_are_told.c_str()), 0);
}

TEST(a_service, whose_ranks_return_zero_when_they_are_told_to_end_ends_with_zero) {
  launched job(service("2"));
  job.read_until("ready\nready\n");
  job.signal(SIGTERM);
  const outcome got = job.end();
  EXPECT_EQ(code_of(got), 0);
  EXPECT_EQ(got.errors, "");
}

TEST(variables_of_the_environment, that_say_where_nacre_is_installed_are_no_options) {
  for (const char* name : {"NACRE_ROOT", "NACRE_DIR", "NACRE_HOME", "NACRE_PREFIX", "NACRE_VERSION"}) {
    for (const std::string launcher : {"", NACRE_BIN_DIR "/nacre run -n 2"}) {
      const outcome got = launched({"sh", "-c",
                                    std::string("export ") + name + "=/opt/nacre; exec " + launcher + " " +
                                        NACRE_BIN_DIR "/handlers_few"})
                              .end();
      EXPECT_EQ(code_of(got), 0) << name;
      EXPECT_EQ(got.errors, "") << name;
    }
  }
}

TEST(variables_of_the_environment, that_are_no_options_cost_one_line_with_the_nearest_name) {
  for (const std::string launcher : {"", NACRE_BIN_DIR "/nacre run -n 3"}) {
    const outcome got =
        launched({"sh", "-c", "export NACRE_WORKRES=2; exec " + launcher + " " NACRE_BIN_DIR "/handlers_few"}).end();
    EXPECT_EQ(code_of(got), 0);
    EXPECT_EQ(got.errors,
              "nacre: the environment variable NACRE_WORKRES is no option (it has no effect): did you mean "
              "NACRE_WORKERS? --nacre.help lists all options\n");
  }
}

TEST(a_helper_that_is_started_before_the_job, is_named_when_it_has_taken_the_place_of_its_rank) {
  const outcome got = nacre_command({"run", "-n", "2", own_path(), "--as-rank", "helper_is_rank", "--nacre.workers=1"});
  EXPECT_EQ(code_of(got), 2);
  EXPECT_EQ(got.output, "met\nmet\n");
  for (const std::string& line : lines_of(got.errors)) {
    EXPECT_TRUE(line.starts_with("nacre: the place of this rank in its job is taken by process ")) << line;
    EXPECT_NE(line.find(" (inherited_mp_test)"), std::string::npos) << line;
  }
  EXPECT_EQ(lines_of(got.errors).size(), 2U) << got.errors;
}

TEST(a_helper_that_is_started_before_the_job, may_be_another_job) {
  const outcome got = nacre_command({"run", "-n", "2", own_path(), "--as-rank", "helper_is_job", "--nacre.workers=1"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, "met\nmet\nmet\nmet\nmet\nmet\n") << "two jobs of two ranks, started by two ranks";
  EXPECT_EQ(got.errors, "");
}

struct choices_of_the_launcher : testing::Test {
  void TearDown() override { std::filesystem::remove_all(images); }
  const std::string images = testing::TempDir() + "nacre_inherited." + std::to_string(::getpid());
};

TEST_F(choices_of_the_launcher, reach_a_program_whose_options_are_in_its_code) {
  outcome got = nacre_command({"run", "-n", "2", "--transport", "tcp", own_path(), "--as-rank", "by_code", images});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE((got.output + got.errors).find("2 ranks (tcp"), std::string::npos) << got.output << got.errors;
  EXPECT_NE(got.output.find("begins at 0\n"), std::string::npos);
  got = nacre_command({"run", "-n", "2", "--restore", images, own_path(), "--as-rank", "by_code", images});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE(got.output.find("begins at 3\n"), std::string::npos) << got.output;
}

TEST_F(choices_of_the_launcher, give_way_to_a_transport_that_the_code_names) {
  const outcome got =
      nacre_command({"run", "-n", "2", "--transport", "tcp", own_path(), "--as-rank", "by_code", images, "shm"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE((got.output + got.errors).find("2 ranks (shm"), std::string::npos) << got.output << got.errors;
}

TEST_F(choices_of_the_launcher, are_no_business_of_the_programs_that_a_rank_starts) {
  const outcome got =
      nacre_command({"run", "-n", "1", "--survive", "restart", "--restore", images, own_path(), "--as-rank",
                     "helper_behind", "--nacre.workers=1", "--nacre.checkpoint.folder=" + images});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, "begins at 0\nmet\n") << got.errors;
}

/// In a network namespace of its own, whose loopback interface has the addresses that `setting` leaves.
outcome in_own_network(const std::string& setting, const std::string& command) {
  return launched({"unshare", "-n", "sh", "-c", setting + "; exec " + command}).end();
}

TEST(a_host, without_ipv4_runs_jobs_over_every_transport) {
  const std::string no_ipv4 = "ip link set lo up && ip address del 127.0.0.1/8 dev lo";
  if (code_of(in_own_network(no_ipv4, "grep -q . /proc/net/if_inet6")) != 0)
    GTEST_SKIP() << "needs the right to make a network namespace (root), ip of iproute2, and IPv6";
  const std::string program = NACRE_BIN_DIR "/handlers_few";
  for (const std::string transport : {"shm", "tcp", "udp", "auto"}) {
    for (const std::string& command : {NACRE_BIN_DIR "/nacre run -n 2 --transport " + transport + " " + program,
                                       program + " --nacre.ranks=2 --nacre.transport=" + transport}) {
      const outcome got = in_own_network(no_ipv4, command);
      EXPECT_EQ(code_of(got), 0) << command << ": " << got.errors;
      EXPECT_EQ(got.output, "all ranks have met\n") << command;
    }
  }
}

TEST(a_host, without_any_loopback_address_is_told_which_one_is_missing) {
  const std::string none = "ip link set lo down";
  if (code_of(in_own_network(none, "true")) != 0)
    GTEST_SKIP() << "needs the right to make a network namespace (root), and ip of iproute2";
  const outcome got = in_own_network(none, NACRE_BIN_DIR "/nacre run -n 2 true");
  EXPECT_EQ(code_of(got), 2);
  EXPECT_EQ(lines_of(got.errors).size(), 1U) << got.errors;
  EXPECT_NE(got.errors.find("neither of the addresses 127.0.0.1 and ::1"), std::string::npos) << got.errors;
}

int run_as_rank(const std::string& name, int argc, char** argv) {
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  const std::string meets = own_path() + " --as-rank meets --nacre.workers=1";
  if (name == "helper_is_rank") return start_helper_first(meets, argc, argv);
  if (name == "helper_is_job") return start_helper_first(NACRE_BIN_DIR "/nacre run -n 2 " + meets, argc, argv);
  if (name == "by_code") return run_by_code(argc, argv);
  if (name == "helper_behind") {
    const std::string helper = meets + " && ! env | grep -E 'NACRE_.*(RESTORE|IMAGES|TRANSPORT)'";
    return nacre::run(argc, argv, [&](nacre::runtime& rt) { go_on(rt, helper); });
  }
  return nacre::run(argc, argv, name == "meets" ? meet : serve);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 2 ? argv[1] : "";
  if (first == "--as-rank") return run_as_rank(argv[2], argc, argv);
  if (first == "--ignoring" && argc > 3) {
    std::signal(std::atoi(argv[2]), SIG_IGN);
    ::execv(argv[3], argv + 3);
    return 127;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
