// SPDX-License-Identifier: Apache-2.0
// Hosts without a network: their ranks, the commands that reach them, the texts of failures, the messages.
#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

#include "tool/hosts/host_message.hpp"
#include "tool/hosts/host_plan.hpp"
#include "tool/hosts/own_address.hpp"
#include "tool/hosts/remote_shell.hpp"

namespace nacre::tool {
namespace {

/// "a:0,1 b:2"
std::string text_of(const std::vector<host_share>& shares) {
  std::string result;
  for (const host_share& each : shares) {
    result += (result.empty() ? "" : " ") + each.name + ":";
    for (const std::uint32_t rank : each.ranks) {
      result += (rank == each.ranks.front() ? "" : ",") + std::to_string(rank);
    }
  }
  return result;
}

std::string spread(std::string_view hosts, std::optional<std::uint32_t> ranks,
                   distribution distribution = distribution::block) {
  return text_of(spread_ranks(parse_hosts(hosts), ranks, distribution));
}

TEST(host_plan, fills_the_slots_of_one_host_after_the_other) {
  EXPECT_EQ(spread("a:2,b:2", std::nullopt), "a:0,1 b:2,3");
  EXPECT_EQ(spread("a:2,b:2", 3), "a:0,1 b:2");
  EXPECT_EQ(spread("a:2,b:2", 1), "a:0") << "a host without ranks is left out";
  EXPECT_EQ(spread("a,b:3", std::nullopt), "a:0 b:1,2,3") << "a host without a number beside one with has one slot";
}

TEST(host_plan, gives_ranks_in_turns_when_cyclic_as_long_as_there_are_slots) {
  EXPECT_EQ(spread("a:2,b:2", std::nullopt, distribution::cyclic), "a:0,2 b:1,3");
  EXPECT_EQ(spread("a:1,b:3", std::nullopt, distribution::cyclic), "a:0 b:1,2,3");
  EXPECT_EQ(spread("a,b,c", 5, distribution::cyclic), "a:0,3 b:1,4 c:2");
}

TEST(host_plan, spreads_evenly_over_hosts_without_numbers) {
  EXPECT_EQ(spread("a,b,c", std::nullopt), "a:0 b:1 c:2");
  EXPECT_EQ(spread("a,b,c", 7), "a:0,1,2 b:3,4 c:5,6");
  EXPECT_EQ(spread("a,b,c", 2), "a:0 b:1");
}

TEST(host_plan, adds_the_slots_of_a_host_that_is_named_again) {
  EXPECT_EQ(spread("a,b,a", std::nullopt), "a:0,1 b:2");
  EXPECT_EQ(spread("a:2,a:3", std::nullopt), "a:0,1,2,3,4");
}

TEST(host_plan, reads_addresses_and_users) {
  EXPECT_EQ(spread("user@a:2,[::1]:2,fe80::1,10.0.0.7", std::nullopt), "user@a:0,1 ::1:2,3 fe80::1:4 10.0.0.7:5");
}

TEST(host_plan, reads_a_file_with_one_host_in_a_line) {
  const auto hosts = parse_host_file("# the cluster\na slots=2   # old\n\n\tb:3\r\nc", "hosts.txt");
  EXPECT_EQ(text_of(spread_ranks(hosts, std::nullopt, distribution::block)), "a:0,1 b:2,3,4 c:5");
}

template <class Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const setup_error& error) {
    return error.what();
  }
  return "none";
}

TEST(host_plan, refuses_what_makes_no_sense_and_says_what_to_write) {
  for (const char* list : {"", "a,,b", "a:0", "a:x", "a:5000", "-oProxyCommand=true", "a b", ":3"}) {
    const std::string complaint = complaint_of([&] { static_cast<void>(parse_hosts(list)); });
    EXPECT_NE(complaint.find("write "), std::string::npos) << list << ": " << complaint;
  }
  const std::string line = complaint_of([] { static_cast<void>(parse_host_file("a\nb cores=2\n", "hosts.txt")); });
  EXPECT_NE(line.find("line 2 of hosts.txt has 'cores=2'"), std::string::npos) << line;
  EXPECT_NE(complaint_of([] { static_cast<void>(parse_host_file("# none\n", "hosts.txt")); }).find("names no host"),
            std::string::npos);
  EXPECT_NE(complaint_of([] { static_cast<void>(spread("a:1,b:1", 3)); }).find("-n 3 is more than the 2 slots"),
            std::string::npos);
  EXPECT_NE(complaint_of([] { static_cast<void>(spread("a:4000,b:4000", std::nullopt)); }).find("8000 slots"),
            std::string::npos);
}

TEST(remote_shell, splits_its_words_as_a_shell_does) {
  using words = std::vector<std::string>;
  EXPECT_EQ(split_words("ssh -p 22"), (words{"ssh", "-p", "22"}));
  EXPECT_EQ(split_words("  my\\ shell 'a b'\"c $d\" '' "), (words{"my shell", "a bc $d", ""}));
  EXPECT_THROW(static_cast<void>(split_words("ssh 'open")), setup_error);
  EXPECT_THROW(static_cast<void>(split_words("  ")), setup_error);
}

TEST(remote_shell, is_given_one_word_that_no_shell_on_the_other_side_misreads) {
  const auto command = agent_command({"ssh", "-T"}, "b", "/it's here/nacre");
  EXPECT_EQ(command, (std::vector<std::string>{"ssh", "-T", "b", "exec '/it'\\''s here/nacre' host-agent"}));
}

std::string explained(ending ending, const std::string& said) {
  return explain({.host = "b", .command = {"ssh", "b"}, .nacre = "/opt/nacre", .outcome = ending, .said = said});
}

TEST(remote_shell, has_failures_that_name_the_host_and_what_to_try) {
  const auto exited = [](int code) { return ending{.cause = ending::kind::exited, .number = code}; };
  EXPECT_EQ(explained(exited(255), "ssh: Could not resolve hostname b: Name or service not known\r\n"),
            "host b cannot be used: its name has no address (ssh: Could not resolve hostname b: Name or service not "
            "known): check the name in --hosts and in ~/.ssh/config");
  EXPECT_EQ(explained(exited(255), "hello\nu@b: Permission denied (publickey).\n"),
            "host b cannot be used: it refuses the keys of this user (u@b: Permission denied (publickey).): put a key "
            "there (ssh-copy-id b), or name one: --ssh 'ssh -i KEY'");
  EXPECT_EQ(explained(exited(255), "strange"), "host b cannot be used: ssh failed (strange): try ssh b true");
  EXPECT_EQ(
      explained(exited(127), "sh: 1: /opt/nacre: not found"),
      "host b cannot run /opt/nacre (sh: 1: /opt/nacre: not found): install nacre there at the same path, or name "
      "its place with --nacre PATH");
  EXPECT_EQ(explained(exited(2), "nacre: there is no program 'x' (why): check the path\n"),
            "host b: there is no program 'x' (why): check the path");
  EXPECT_EQ(explained({.cause = ending::kind::killed, .number = SIGKILL}, ""),
            "host b cannot be used: ssh was killed by signal 9 (Killed): try ssh b true");
  EXPECT_EQ(explained(exited(3), ""),
            "host b cannot be used: ssh exited with code 3 before an agent had called: try ssh b true");
}

TEST(own_address, is_that_of_the_loopback_interface_when_all_hosts_are_here) {
  EXPECT_EQ(own_address({"localhost", "127.0.0.2", "user@127.0.0.3"}, "").text(), "127.0.0.1:0");
  EXPECT_EQ(own_address({"localhost"}, "::1").text(), "[::1]:0");
  EXPECT_NE(complaint_of([] { static_cast<void>(own_address({"b"}, "eth0")); }).find("--address eth0"),
            std::string::npos);
}

TEST(host_launch_spec, comes_back_as_it_was_and_not_from_another_version) {
  host_launch_spec host_spec;
  host_spec.host = "b";
  host_spec.ranks = {3, 5};
  host_spec.arguments = {"./a program", "--x=1"};
  host_spec.variables = {"NACRE_A=b c\nd"};
  std::vector<std::byte> bytes = pack_host_spec(host_spec);
  const host_launch_spec back = unpack_host_spec(bytes);
  EXPECT_EQ(back.ranks, host_spec.ranks);
  EXPECT_EQ(back.arguments, host_spec.arguments);
  EXPECT_EQ(back.variables, host_spec.variables);
  bytes[4] = std::byte{'9'};  // the first letter of the version
  EXPECT_NE(complaint_of([&] { static_cast<void>(unpack_host_spec(bytes)); }).find("the launcher is nacre 9"),
            std::string::npos);
  EXPECT_NE(complaint_of([] { static_cast<void>(unpack_host_spec({})); }).find("no orders of a launcher"),
            std::string::npos);
}

TEST(host_stream, gives_back_what_was_pushed_and_survives_damaged_bytes) {
  host_stream out;
  out.push(host_ready{.program = "/opt/p", .fingerprint = 7});
  out.push(rank_output{.rank = 2, .to_error = true, .text = "a\nb"});
  out.push(rank_ended{.rank = 1, .outcome = {.cause = ending::kind::killed, .number = 9}});
  out.push(input_text{});
  host_stream in;
  in.received(out.outgoing());
  EXPECT_EQ(std::get<host_ready>(**in.pop()).fingerprint, 7U);
  EXPECT_EQ(std::get<rank_output>(**in.pop()).text, "a\nb");
  EXPECT_EQ(std::get<rank_ended>(**in.pop()).outcome.number, 9);
  EXPECT_TRUE(std::holds_alternative<input_text>(**in.pop()));
  EXPECT_FALSE(in.pop()->has_value());
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    rng draw(seed);
    std::vector<std::byte> bytes(out.outgoing().begin(), out.outgoing().end());
    for (int i = 0; i < 3; ++i) bytes[draw.below(bytes.size())] = static_cast<std::byte>(draw.next());
    host_stream damaged;
    damaged.received(bytes);
    for (auto m = damaged.pop(); m && *m; m = damaged.pop()) continue;
  }
}

}  // namespace
}  // namespace nacre::tool
