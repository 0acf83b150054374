// SPDX-License-Identifier: Apache-2.0
// The command nacre as its users see it: what it refuses and how, what it explains, and what becomes of its output.
#include "launched.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace nacre::tests;

struct mistake {
  std::vector<std::string> arguments;
  std::string complaint;
};

const std::vector<mistake> mistakes{
    {{"run", "-n", "2", "no_such_program"}, "there is no program 'no_such_program'"},
    {{"run", "-n", "2", "./no_such_program"}, "there is no program './no_such_program'"},
    {{"run", "-n", "2", "/etc/passwd"}, "'/etc/passwd' is not executable"},
    {{"run", "-n", "2", "/tmp"}, "'/tmp' is a directory"},
    {{"run", "-n", "0", "true"}, "-n 0 is no number of ranks"},
    {{"run", "-n", "100000", "true"}, "choose 1 to 4096"},
    {{"run", "-n", "two", "true"}, "-n two is no number of ranks"},
    {{"run", "-np", "2", "true"}, "there is no option -np (-n takes the number of ranks): write -n N"},
    {{"run", "-np2", "true"}, "there is no option -np"},
    {{"run", "-n", "2"}, "no program is given"},
    {{"run", "true"}, "neither -n nor --hosts is given"},
    {{"run", "true", "-n", "2"}, "no -n or --hosts stands before the program"},
    {{"run", "--hosts", "", "true"}, "--hosts has an empty value (it would have no effect): leave it out, or write"},
    {{"run", "--hostfile", "", "-n", "1", "true"}, "--hostfile has an empty value"},
    {{"run", "-n", "1", "--transport", "", "true"}, "--transport has an empty value"},
    {{"run", "-n", "1", "--wdir", "", "true"}, "--wdir has an empty value"},
    {{"run", "--hosts", "a:0", "true"}, "'a:0' names no number of slots"},
    {{"run", "--hosts", "a:1", "-n", "2", "true"}, "-n 2 is more than the 1 slots"},
    {{"run", "--hosts", "a", "--hostfile", "b", "true"}, "--hosts and --hostfile are both given"},
    {{"run", "--hostfile", "no_such_file", "true"}, "cannot read 'no_such_file'"},
    {{"run", "--hostfile", "/tmp", "true"}, "cannot read '/tmp': Is a directory"},
    {{"replay", "/tmp"}, "cannot read '/tmp': Is a directory"},
    {{"run", "--hosts", "a", "--distribution", "random", "true"}, "block (0, 1 on the first host) or cyclic"},
    {{"run", "--hosts", "localhost", "--ssh", "'ssh", "true"}, "is no command"},
    {{"run", "--hosts", "localhost", "--address", "here", "true"}, "--address here is no numeric address"},
    {{"run", "--hosts", "no-such-host.invalid", "true"}, "host no-such-host.invalid has no address"},
    {{"run", "--hosts", "localhost", "no_such_program"}, "host localhost: there is no program 'no_such_program'"},
    {{"run", "--hosts", "localhost", "--wdir", "/no/such", "true"}, "host localhost: cannot enter the folder"},
    {{"run", "-n", "1", "--wdir", "/no/such", "true"}, "cannot enter the folder '/no/such': No such file"},
    {{"run", "-n", "1", "--distribution", "cyclic", "true"}, "--distribution is given, and no hosts are"},
    {{"run", "-n", "1", "--ssh", "ssh", "true"}, "--ssh is given, and no hosts are"},
    {{"run", "--hosts", "localhost", "--host-timeout", "1 h", "true"}, "--host-timeout 1 h is no number of seconds"},
    {{"run", "-n", "1", "--nacre", "nacre", "true"}, "--nacre is given, and no hosts are"},
    {{"run", "-n", "1", "--address", "::1", "true"}, "--address is given, and no hosts are"},
    {{"run", "-n", "1", "-x", "NO_SUCH_VARIABLE", "true"}, "there is no variable NO_SUCH_VARIABLE"},
    {{"run", "-n", "1", "-x", "NACRE_JOB_RANK=1", "true"}, "names no variable that can be set"},
    {{"host-agent"}, "standard input holds no orders of a launcher"},
    {{"run", "-n", "2", "--lable", "true"}, "did you mean --label?"},
    {{"run", "-n", "2", "--transport", "tpc", "true"}, "did you mean 'tcp'?"},
    {{"run", "-n", "2", "--transport", "sim", "true"}, "the transport 'sim' connects no processes"},
    {{"run", "-n", "2", "--config", "no_such_file", "true"}, "there is no file 'no_such_file'"},
    {{"run", "-n", "2", "--config", "/tmp", "true"}, "'/tmp' is no regular file"},
    {{"run", "-n", "1", "-x", "NACRE_TRANSPORT=tcp", "true"}, "write --transport NAME"},
    {{"report", "/tmp/" + std::string(300, 'x')}, "File name too long"},
    {{"rnu"}, "did you mean 'nacre run'?"}};

TEST(nacre_command_line, answers_mistakes_with_one_line_that_says_what_to_do) {
  for (const mistake& each : mistakes) {
    const outcome got = nacre_command(each.arguments);
    EXPECT_EQ(code_of(got), 2) << each.complaint;
    EXPECT_EQ(lines_of(got.errors).size(), 1U) << got.errors;
    EXPECT_NE(got.errors.find(each.complaint), std::string::npos) << got.errors;
  }
}

TEST(nacre_command_line, takes_two_dashes_before_the_program_and_leaves_it_those_behind) {
  const outcome got = nacre_command({"run", "-n", "1", "--", "/bin/echo", "--", "a"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, "-- a\n");
  EXPECT_EQ(nacre_command({"run", "-n", "1", "/bin/echo", "--", "a"}).output, "-- a\n");
}

TEST(nacre_command_line, replaces_no_part_of_a_trace_by_its_report) {
  const std::string trace = testing::TempDir() + "nacre_parts." + std::to_string(::getpid());
  const outcome ran = nacre_command({"run", "-n", "2", NACRE_BIN_DIR "/uts", "--tree", "T3", "--nacre.trace=" + trace});
  ASSERT_EQ(code_of(ran), 0) << ran.errors;
  for (const std::string part : {".0", ".1"}) {
    const auto bytes = std::filesystem::file_size(trace + part);
    const outcome got = nacre_command({"report", trace, "--format", "text", "-o", trace + part});
    EXPECT_EQ(code_of(got), 2);
    EXPECT_NE(got.errors.find("the report would replace"), std::string::npos) << got.errors;
    EXPECT_EQ(std::filesystem::file_size(trace + part), bytes);
    std::filesystem::remove(trace + part);
  }
}

TEST(nacre_command_line, fails_with_a_line_where_its_output_is_lost) {
  for (const char* command :
       {"info", "--version", "--help", "run -n 1 /bin/echo hello", "run -n 1 --label /bin/echo hello"}) {
    const outcome got =
        launched({"/bin/sh", "-c", NACRE_BIN_DIR "/nacre " + std::string(command) + " >/dev/full"}).end();
    EXPECT_EQ(code_of(got), 1) << command;
    EXPECT_EQ(got.errors, "nacre: standard output cannot be written: No space left on device\n") << command;
  }
}

TEST(nacre_command_line, keeps_the_code_of_a_job_that_has_failed_when_its_output_is_lost_too) {
  const outcome got =
      launched({"/bin/sh", "-c", NACRE_BIN_DIR "/nacre run -n 1 /bin/sh -c 'echo hello; exit 7' >/dev/full"}).end();
  EXPECT_EQ(code_of(got), 7);
  EXPECT_TRUE(got.errors.starts_with("nacre: standard output cannot be written: No space left on device\n"))
      << got.errors;
}

TEST(nacre_command_line, has_nothing_to_say_of_a_reader_that_has_had_enough) {
  for (const char* command : {"info", "run -n 1 /bin/echo hello"}) {
    const outcome got = launched({"/bin/bash", "-c",
                                  "trap '' PIPE; exec 3> >(exec <&-); wait $!; " NACRE_BIN_DIR "/nacre " +
                                      std::string(command) + " >&3"})
                            .end();
    EXPECT_EQ(code_of(got), 0) << command;
    EXPECT_EQ(got.errors, "") << command;
  }
}

TEST(nacre_command_line, explains_itself) {
  EXPECT_NE(nacre_command({"--help"}).output.find("Run a program on several ranks"), std::string::npos);
  EXPECT_NE(nacre_command({"run", "--help"}).output.find("nacre run -n N [OPTIONS] PROGRAM"), std::string::npos);
  const outcome info = nacre_command({"info"});
  for (const char* word : {"nacre", "build", "inproc", "shm", "tcp", "udp", "sim", "processor", "cores"}) {
    EXPECT_NE(info.output.find(word), std::string::npos) << word;
  }
}

}  // namespace
