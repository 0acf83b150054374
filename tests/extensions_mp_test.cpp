// SPDX-License-Identifier: Apache-2.0
// A module that misbehaves ends as described, and harms neither other modules nor the work of the ranks.
//
// The executable is its own rank program: `extensions_mp_test --fault NAME`, `--keys`, or `--datagrams`.
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "extensions/courier.hpp"
#include "extensions/faults.hpp"
#include "launched.hpp"
#include "transports.hpp"

namespace {

using namespace nacre::tests;

int act_as_rank(int argc, char** argv) {
  if (std::string_view(argv[1]) == "--datagrams") {
    register_courier();
    return nacre::run(argc, argv, send_datagrams);
  }
  register_faulty_modules();
  if (std::string_view(argv[1]) == "--keys") return nacre::run(argc, argv, use_keys);
  for (const fault& each : faults()) {
    if (each.name == argv[2]) return nacre::run(argc, argv, [&](nacre::runtime& rt) { misbehave(rt, each); });
  }
  return 3;
}

std::vector<std::string> job_over(const std::string& transport, std::vector<std::string> arguments,
                                  std::string_view options) {
  const bool one_process = transport == "inproc" || transport == "sim";
  std::vector<std::string> words;
  if (!one_process) words = start_of(transport, 3).words;
  words.push_back(own_path());
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.emplace_back("--nacre.workers=1");
  if (one_process) words.insert(words.end(), {"--nacre.transport=" + transport, "--nacre.ranks=3"});
  std::istringstream all{std::string(options)};
  for (std::string each; all >> each;) words.push_back("--nacre." + each);
  return words;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class extensions : public testing::TestWithParam<const char*> {};

TEST_P(extensions, a_module_that_misbehaves_ends_with_its_reason_and_harms_nobody) {
  for (const fault& each : faults()) {
    const outcome got = launched(job_over(GetParam(), {"--fault", std::string(each.name)}, each.options)).end();
    EXPECT_TRUE(contains(got.errors, each.text)) << each.name << '\n' << got.errors;
    EXPECT_TRUE(contains(got.errors, "faulty")) << got.errors;
    if (each.ends_job) {
      EXPECT_GT(code_of(got), 0) << each.name;
      continue;
    }
    EXPECT_EQ(code_of(got), 0) << each.name << '\n' << got.output << got.errors;
    EXPECT_EQ(got.output, "exact\n") << each.name;
    std::size_t deactivated = 0;
    for (const std::string& line : lines_of(got.errors)) deactivated += contains(line, "is deactivated") ? 1 : 0;
    EXPECT_EQ(deactivated, 1U) << each.name << '\n' << got.errors;
  }
}

TEST_P(extensions, only_a_key_that_the_owner_handed_out_opens_a_module) {
  const outcome got = launched(job_over(GetParam(), {"--keys"}, {})).end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, "keys hold\n");
  EXPECT_TRUE(contains(got.errors, "nacre: rank 2: extension sealed: refused command 5 of rank 0")) << got.errors;
}

/// The counts of a job that sends 4800 datagrams.
struct datagram_counts {
  int sent = 0, came = 0, wrong = 0;
};
datagram_counts count_datagrams(const std::string& transport, const std::string& options) {
  const outcome got = launched(job_over(transport, {"--datagrams"}, options)).end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  datagram_counts subject;
  EXPECT_EQ(std::sscanf(got.output.c_str(), "sent %d came %d wrong %d", &subject.sent, &subject.came, &subject.wrong),
            3)
      << got.output << got.errors;
  return subject;
}

TEST_P(extensions, datagrams_come_once_and_unchanged_on_a_path_that_loses_none) {
  const datagram_counts datagram_counts = count_datagrams(GetParam(), {});
  EXPECT_EQ(datagram_counts.sent, 4800);
  EXPECT_LE(datagram_counts.came, 4800);
  EXPECT_GE(datagram_counts.came, GetParam() == std::string("udp") ? 4300 : 4800)
      << "the kernel of a busy host drops some";
  EXPECT_EQ(datagram_counts.wrong, 0);
}

TEST(extension_datagrams, are_lost_as_often_as_a_simulated_machine_loses_them_while_control_messages_all_come) {
  const datagram_counts datagram_counts = count_datagrams("sim", "sim.loss_probability=0.3 sim.late_probability=0.1");
  EXPECT_EQ(datagram_counts.sent, 4800);
  EXPECT_NEAR(datagram_counts.came, 4800 * 0.7, 150);
  EXPECT_EQ(datagram_counts.wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(over, extensions, testing::Values("inproc", "sim", "shm", "tcp", "udp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--fault" || first == "--keys" || first == "--datagrams") return act_as_rank(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
