// SPDX-License-Identifier: Apache-2.0
// Programs as their users meet them: with output that gets nowhere, without memory, with a caller who may do less.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/sanitized.hpp"
#include "launched.hpp"

namespace {

using namespace nacre::tests;

std::string program(const std::string& name) { return NACRE_BIN_DIR "/" + name; }

/// In a shell, which sees the programs of the build as $uts, $netsort and so on.
outcome shell(const std::string& script) {
  std::string all;
  for (const char* each : {"uts", "netsort", "synthetic", "emulate", "mesh2d", "mesh3d"})
    all += std::string(each) + "=" + program(each) + "; ";
  return launched({"/bin/bash", "-c", all + script}).end();
}

TEST(programs, fail_with_a_line_where_their_output_is_lost) {
  for (const std::string command :
       {"uts --help", "uts --list", "uts --tree T1 --depth 3 --sequential", "uts --tree T1 --depth 3 --json",
        "netsort --help", "netsort --values 16", "synthetic --help", "uts --nacre.help"}) {
    const outcome got = shell("$" + command + " >/dev/full");
    EXPECT_EQ(code_of(got), 1) << command;
    const std::string speaker =
        command.find("nacre.help") != std::string::npos ? "nacre" : command.substr(0, command.find(' '));
    EXPECT_EQ(got.errors, speaker + ": standard output cannot be written: No space left on device\n") << command;
  }
}

TEST(programs, have_nothing_to_say_of_a_reader_that_has_had_enough) {
  const outcome got = shell("trap '' PIPE; exec 3> >(exec <&-); wait $!; $uts --list >&3 && $uts --nacre.help >&3");
  EXPECT_EQ(code_of(got), 0);
  EXPECT_EQ(got.errors, "");
}

TEST(programs, keep_their_own_code_when_they_have_failed_and_their_output_is_lost_too) {
  const outcome got = shell("$uts --tree T1 --no-such-option >/dev/full");
  EXPECT_EQ(code_of(got), 2);
}

TEST(programs, without_memory_say_so) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs more address space than the limit leaves";
  const outcome got = shell("ulimit -v 200000; $uts --type binomial --branching 20000000 --sequential");
  EXPECT_EQ(code_of(got), 1);
  EXPECT_EQ(lines_of(got.errors),
            std::vector<std::string>{"uts: no memory is left (what it computes must fit into memory): choose a smaller "
                                     "problem, or raise the limit of memory (ulimit -v)"});
}

TEST(programs, with_more_ranks_in_a_process_than_it_can_hold_are_refused_with_the_bound) {
  for (const std::string transport : {"inproc", "shm", "tcp", "udp"}) {
    const outcome got = shell("$uts --tree T1 --nacre.ranks=1000000 --nacre.transport=" + transport);
    EXPECT_EQ(code_of(got), 2);
    EXPECT_EQ(got.errors,
              "nacre: ranks=1000000 is too many under " + transport +
                  " (each has threads of its own; a process holds at most 4096 such ranks): choose fewer, or "
                  "--nacre.transport=sim, where a rank needs no thread\n");
  }
}

TEST(programs, do_not_take_an_empty_value_for_none) {
  const outcome got = shell("$uts --tree ''");
  EXPECT_EQ(code_of(got), 2);
  EXPECT_EQ(got.errors,
            "uts: --tree has no value '': it is empty, leave it out or write NAME: --help shows the options\n");
}

/// A program whose caller is not its owner.
TEST(programs, refuse_a_file_that_they_could_not_write_before_they_work) {
  for (const std::string command : {"emulate --program line --json /none/file", "mesh2d square --out /none/file.vtu",
                                    "mesh2d square --out /none/file", "mesh2d square --write-poly /none/file.poly",
                                    "mesh3d sphere --out /none/file.vtu"}) {
    if (!std::filesystem::exists(program(command.substr(0, command.find(' '))))) continue;  // without METIS
    const outcome got = shell("$" + command + " --nacre.ranks=2");
    EXPECT_EQ(code_of(got), 2) << command << '\n' << got.errors;
    EXPECT_EQ(got.output, "") << command;
    ASSERT_EQ(lines_of(got.errors).size(), 1U) << command << '\n' << got.errors;
    EXPECT_NE(got.errors.find("cannot be written: No such file or directory"), std::string::npos) << got.errors;
  }
}

TEST(programs_with_more_rights_than_their_caller, take_no_options_from_the_environment_and_load_no_code_it_names) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one: run the test as root";
  if (sanitized) GTEST_SKIP() << "the leak sanitizer may not look into a process that has other rights";
  struct statvfs status {};
  ASSERT_EQ(::statvfs(NACRE_BIN_DIR, &status), 0);
  if ((status.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "this file system grants no rights to programs (nosuid)";
  const std::filesystem::path copy = program("handlers_few.of_nobody." + std::to_string(::getpid()));
  std::filesystem::copy_file(program("handlers_few"), copy);
  ASSERT_EQ(::chown(copy.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
  const outcome by_environment = launched({"env", "NACRE_NO_SUCH_OPTION=1", copy}).end();
  const outcome by_command_line = launched({copy, "--nacre.transport=ucx", "--nacre.ucx.modules=" NACRE_BIN_DIR}).end();
  std::filesystem::remove(copy);
  EXPECT_EQ(by_environment.output, "all ranks have met\n") << by_environment.errors;
  EXPECT_NE(by_command_line.errors.find("who may not choose what code it loads"), std::string::npos)
      << by_command_line.errors;
  const outcome plain = launched({"env", "NACRE_NO_SUCH_OPTION=1", program("handlers_few")}).end();
  EXPECT_NE(plain.errors.find("NACRE_NO_SUCH_OPTION is no option"), std::string::npos) << "others hear of it";
}

}  // namespace
