// SPDX-License-Identifier: Apache-2.0
// Jobs on several hosts as users see them: by ssh to addresses of this machine, and by other remote shells.
//
// A test whose server cannot run here is skipped, and says what is missing.
#include "ssh_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "launched.hpp"
#include "transports.hpp"

namespace {

using namespace nacre::tests;

constexpr const char* uts = NACRE_BIN_DIR "/uts";
constexpr const char* counted = "nodes            4130071         4130071  match";
constexpr const char* two_hosts = "127.0.0.1,127.0.0.2";

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

std::vector<std::string> sorted_lines_of(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// True when no process of that number runs any more, within seconds.

// ---- ssh

class nacre_run_by_ssh : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<ssh_server>(); }
  static void TearDownTestSuite() { server.reset(); }
  void SetUp() override {
    if (!server->missing().empty()) GTEST_SKIP() << server->missing();
  }

  static std::vector<std::string> run(const std::string& hosts, std::vector<std::string> rest,
                                      const std::string& key = "user") {
    std::vector<std::string> all{"run", "--hosts", hosts, "--ssh", server->shell(key), "--host-timeout", "300"};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  static outcome on_two_hosts(std::vector<std::string> rest, const std::string& input = "") {
    return nacre_command(run(two_hosts, std::move(rest)), input);
  }

  static std::unique_ptr<ssh_server> server;
};
std::unique_ptr<ssh_server> nacre_run_by_ssh::server;

TEST_F(nacre_run_by_ssh, counts_what_one_host_counts) {
  const outcome got = on_two_hosts({"-n", "4", uts, "--tree", "T1", "--nacre.workers=1"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.errors, "");
  EXPECT_TRUE(contains(got.output, counted));
}

void count_within_hosts_and_between_them(const std::vector<std::string>& command) {
  const outcome got = nacre_command(command);
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.errors, "");
  EXPECT_TRUE(contains(got.output, counted));
}

/// Two agents on this machine would share memory, so the ranks are told which host they are to be on.
std::string as_on_two_hosts(const std::string& arguments) {
  return "NACRE_AUTO_HOST=$((NACRE_JOB_RANK / 2)) exec " + std::string(uts) +
         " --tree T1 --nacre.workers=1 --nacre.balancer=steal " + arguments;
}

TEST_F(nacre_run_by_ssh, shares_memory_within_a_host_and_uses_sockets_between_hosts) {
  count_within_hosts_and_between_them(run("127.0.0.1:2,127.0.0.2:2", {"sh", "-c", as_on_two_hosts("")}));
}

TEST_F(nacre_run_by_ssh, uses_ucx_everywhere_or_between_hosts_alone) {
  if (const std::string missing = missing_for_ucx(); !missing.empty()) GTEST_SKIP() << missing;
  ignore_foreign_leaks("ucx");
  const std::string leaks = "ASAN_OPTIONS=detect_leaks=0";
  count_within_hosts_and_between_them(
      run("127.0.0.1:2,127.0.0.2:2", {"--transport", "ucx", "-x", leaks, uts, "--tree", "T1", "--nacre.workers=1"}));
  count_within_hosts_and_between_them(
      run("127.0.0.1:2,127.0.0.2:2", {"-x", leaks, "sh", "-c", as_on_two_hosts("--nacre.auto.between=ucx")}));
}

TEST_F(nacre_run_by_ssh, places_ranks_in_blocks_or_in_turns_and_labels_their_lines) {
  const std::string script = "set -- $SSH_CONNECTION; echo $3 $NACRE_JOB_SIZE $NACRE_JOB_RANKS_ON_HOST; echo e >&2";
  outcome got = nacre_command(run("127.0.0.1:2,127.0.0.2:2", {"--label", "sh", "-c", script}));
  EXPECT_EQ(sorted_lines_of(got.output), (std::vector<std::string>{"[0] 127.0.0.1 4 2", "[1] 127.0.0.1 4 2",
                                                                   "[2] 127.0.0.2 4 2", "[3] 127.0.0.2 4 2"}));
  EXPECT_EQ(sorted_lines_of(got.errors), (std::vector<std::string>{"[0] e", "[1] e", "[2] e", "[3] e"}));
  got = nacre_command(
      run("127.0.0.1:2,127.0.0.2", {"-n", "3", "--distribution", "cyclic", "--label", "sh", "-c", script}));
  EXPECT_EQ(sorted_lines_of(got.output),
            (std::vector<std::string>{"[0] 127.0.0.1 3 2", "[1] 127.0.0.2 3 1", "[2] 127.0.0.1 3 2"}));
}

TEST_F(nacre_run_by_ssh, passes_on_what_it_is_asked_for_and_nothing_else) {
  ::setenv("MINE", "a b", 1);
  ::setenv("NOT_MINE", "x", 1);
  ::setenv("NACRE_SEED", "7", 1);
  const outcome got = on_two_hosts({"-x", "MINE", "-x", "GIVEN=c=d", "sh", "-c",
                                    "echo \"$MINE|$GIVEN|$NOT_MINE|$NACRE_SEED|$NACRE_JOB_TRANSPORT\""});
  ::unsetenv("NACRE_SEED");
  EXPECT_EQ(lines_of(got.output), (std::vector<std::string>(2, "a b|c=d||7|auto"))) << got.errors;
}

TEST_F(nacre_run_by_ssh, shows_no_secret_to_those_who_list_processes) {
  // Whatever belongs to the start of this job: the shells, the agents and the ranks have these words in their lines.
  const std::string script =
      "for p in /proc/[0-9]*; do if tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -qE 'host-agent|nacre run|--hosts'; "
      "then "
      "echo agents; cat $p/cmdline $p/environ 2>/dev/null | tr '\\0' '\\n' | grep -E '^[0-9a-f]{64}$|=[0-9a-f]{64}$'; "
      "fi; "
      "done; env | grep -E '[0-9a-f]{64}'; true";
  const outcome got = on_two_hosts({"sh", "-c", script});
  const std::vector<std::string> lines = lines_of(got.output);
  const std::set<std::string> kinds(lines.begin(), lines.end());
  EXPECT_EQ(kinds, std::set<std::string>{"agents"}) << "something else is 64 hexadecimal digits long";
}

TEST_F(nacre_run_by_ssh, gives_standard_input_to_rank_zero_and_passes_much_output_on_complete) {
  std::string input;
  for (int i = 0; i < 5000; ++i) input += "line " + std::to_string(i) + "\n";
  outcome got = on_two_hosts({"sh", "-c", "cat | cksum"}, input);
  const std::string sum = launched({"cksum"}, input).end().output;
  EXPECT_EQ(sorted_lines_of(got.output), (std::vector<std::string>{sum.substr(0, sum.size() - 1), "4294967295 0"}));
  // Line by line: an unfinished one goes on after 100 ms, and a rank may stand still for longer.
  got = on_two_hosts({"sh", "-c", "stdbuf -oL seq -f \"$NACRE_JOB_RANK %.0f\" 1 100000"});
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(lines.size(), 200000U) << got.errors;
  std::array<int, 2> next{1, 1};
  for (const std::string& line : lines) {
    const std::size_t rank = line.at(0) == '1' ? 1 : 0;
    ASSERT_EQ(line, std::to_string(rank) + " " + std::to_string(next[rank]++));
  }
}

TEST_F(nacre_run_by_ssh, ends_a_job_with_one_line_that_names_the_host_of_a_killed_rank) {
  const outcome got = on_two_hosts(
      {"sh", "-c", "trap '' TERM; if [ $NACRE_JOB_RANK = 1 ]; then kill -9 $$; fi; while :; do sleep 600; done"});
  EXPECT_EQ(lines_of(got.errors),
            std::vector<std::string>{"nacre run: rank 1 on 127.0.0.2 was killed by signal 9 (Killed); ending the job"});
  EXPECT_EQ(code_of(got), 128 + SIGKILL);
  EXPECT_LT(got.seconds, unhurried_end) << "they take no notice, and are killed";
}

TEST_F(nacre_run_by_ssh, tells_of_a_rank_whose_agent_is_gone) {
  // The agent is the parent of the shell; it alone starts ranks, which end with it.
  const outcome got =
      on_two_hosts({"sh", "-c", "if [ $NACRE_JOB_RANK = 1 ]; then kill -9 $PPID; fi; while :; do sleep 0.05; done"});
  EXPECT_EQ(lines_of(got.errors),
            std::vector<std::string>{
                "nacre run: rank 1 on 127.0.0.2 was lost: the connection to its host has ended; ending the job"});
  EXPECT_EQ(code_of(got), 1);
}

TEST_F(nacre_run_by_ssh, leaves_no_rank_and_nothing_it_has_started_behind_when_the_launcher_is_killed) {
  launched job(nacre_with(run(two_hosts, {"sh", "-c", "sleep 600 & echo pid $$; echo pid $!; wait"})));
  job.read_until("pid ");
  while (lines_of(job.output()).size() < 4) job.read_until(job.output() + "pid ");
  std::vector<pid_t> ranks;
  for (const std::string& line : lines_of(job.output())) ranks.push_back(std::stoi(line.substr(4)));
  ASSERT_EQ(ranks.size(), 4U);
  for (const pid_t each : ranks) ASSERT_EQ(::kill(each, 0), 0);
  job.signal(SIGKILL);
  for (const pid_t each : ranks) EXPECT_TRUE(vanishes(each)) << each;
}

TEST_F(nacre_run_by_ssh, passes_signals_on) {
  launched job(nacre_with(
      run(two_hosts, {"sh", "-c", "trap 'echo got it; exit 0' INT; echo ready; while :; do sleep 0.02; done"})));
  job.read_until("ready\nready\n");
  job.signal(SIGINT);
  const outcome got = job.end();
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "got it"), 2) << got.output << got.errors;
  EXPECT_EQ(code_of(got), 0) << "every rank has returned 0";
}

TEST_F(nacre_run_by_ssh, names_the_host_and_what_to_try_when_a_start_fails) {
  const auto errors_of = [](const std::vector<std::string>& arguments) {
    const outcome got = nacre_command(arguments);
    EXPECT_EQ(code_of(got), 2);
    EXPECT_EQ(got.output, "") << "no rank may start";
    EXPECT_EQ(lines_of(got.errors).size(), 1U) << got.errors;
    return got.errors;
  };
  EXPECT_TRUE(contains(errors_of(run("127.0.0.1,127.0.0.3", {"echo", "x"})),
                       "host 127.0.0.3 cannot be used: nothing listens there for ssh"));
  EXPECT_TRUE(contains(errors_of(run("127.0.0.1", {"echo", "x"}, "stranger")), "it refuses the keys of this user"));
  EXPECT_TRUE(
      contains(errors_of(run(two_hosts, {"--nacre", "/opt/none/nacre", "echo", "x"})), "cannot run /opt/none/nacre"));
  EXPECT_TRUE(contains(errors_of(run("127.0.0.2", {"/opt/none/program"})),
                       "host 127.0.0.2: there is no program '/opt/none/program'"));
  EXPECT_TRUE(contains(errors_of(run("127.0.0.2", {"--wdir", "/opt/none", "echo", "x"})),
                       "host 127.0.0.2: cannot enter the folder '/opt/none'"));
  EXPECT_TRUE(
      contains(errors_of(run("127.0.0.2", {"--address", "203.0.113.1", "echo", "x"})), "cannot listen at 203.0.113.1"));
}

// ---- remote shells of other kinds, which need no server

/// A remote shell that runs everything here: scripts get the host as $1 and the command as $2.
outcome by_script(const scratch_folder& folder, const std::string& script, std::vector<std::string> rest) {
  folder.write("shell", "#!/bin/sh\n" + script, 0700);
  std::vector<std::string> all{"run", "--ssh", folder / "shell", "--address", "127.0.0.1", "--host-timeout", "300"};
  all.insert(all.end(), rest.begin(), rest.end());
  return nacre_command(all);
}

TEST(nacre_run_by_any_shell, refuses_hosts_whose_programs_differ) {
  const scratch_folder folder;
  folder.write("a", "#!/bin/sh\necho one\n", 0700);
  folder.write("b", "#!/bin/sh\necho two\n", 0700);
  // Descriptor 9 is another file on each host, and one path.
  const std::string script = "exec 9<\"" + folder.path() + "/$1\"\nexec sh -c \"$2\"\n";
  const outcome got = by_script(folder, script, {"--hosts", "a,b", "/proc/self/fd/9"});
  EXPECT_EQ(code_of(got), 2);
  EXPECT_TRUE(contains(got.errors, "is another version than on host"));
  EXPECT_TRUE(contains(got.errors, "copy it there"));
  EXPECT_EQ(got.output, "");
}

TEST(nacre_run_by_any_shell, runs_a_bounded_number_of_shells_at_a_time) {
  const scratch_folder folder;
  ::mkdir((folder / "now").c_str(), 0700);
  // Each shell counts those that run, and lives a little longer than its command.
  const std::string script = "touch " + (folder / "now/$$") + "; ls " + (folder / "now") + " | wc -l >>" +
                             (folder / "counts") + "\nsh -c \"$2\"\ncode=$?\nrm " + (folder / "now/$$") +
                             "\nexit $code\n";
  std::string hosts = "h0";
  for (int i = 1; i < 80; ++i) hosts += ",h" + std::to_string(i);
  const outcome got = by_script(folder, script, {"--hosts", hosts, "sh", "-c", "echo $NACRE_JOB_RANK"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(lines_of(got.output).size(), 80U);
  std::ifstream counts(folder / "counts");
  int most = 0;
  int shells = 0;
  for (int count = 0; counts >> count; ++shells) most = std::max(most, count);
  EXPECT_EQ(shells, 80);
  EXPECT_LE(most, 64);
  EXPECT_GT(most, 1) << "they are not started one after the other";
}

TEST(nacre_run_by_any_shell, says_so_when_a_shell_ends_without_an_agent) {
  const scratch_folder folder;
  outcome got = by_script(folder, "echo strange >&2; exit 3\n", {"--hosts", "a", "true"});
  EXPECT_TRUE(contains(got.errors, "exited with code 3 before an agent had called (strange)"));
  got = by_script(folder, "kill -9 $$\n", {"--hosts", "a", "true"});
  EXPECT_TRUE(contains(got.errors, "was killed by signal 9"));
}

}  // namespace
