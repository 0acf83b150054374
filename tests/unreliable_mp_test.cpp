// SPDX-License-Identifier: Apache-2.0
// Messages that may be lost, between processes: over every transport, and over a network that drops what it has no room
// for.
//
// The executable is its own rank program: `unreliable_mp_test --as-rank rounds`, or `--as-rank flood`.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transports.hpp"
#include "two_hosts.hpp"

namespace {

using namespace nacre::tests;

constexpr nacre::with lossy{.reliable = false};

// ---- rank programs

std::atomic<std::uint32_t> came{0}, wrong{0};
std::mutex seen_mutex;
std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // under seen_mutex: source and number

std::byte byte_of(std::uint32_t number, std::size_t place) {
  return static_cast<std::byte>(number * 31 + place * 7 + place / 1031);
}

/// All lengths up to the longest, long ones seldom.
std::size_t length_of(std::uint32_t number) {
  if (number % 100 == 99) return nacre::unreliable_bytes_max - 8;
  if (number % 10 == 9) return 5000 + number * 997 % 200'000;
  return number * 37 % 1500;
}

void take(nacre::context& ctx, std::uint32_t number, std::span<const std::byte> bytes) {
  ++came;
  bool right = bytes.size() == length_of(number);
  for (std::size_t i = 0; right && i < bytes.size(); ++i) right = bytes[i] == byte_of(number, i);
  const std::scoped_lock lock(seen_mutex);
  if (!right || !seen.emplace(ctx.source().value(), number).second) ++wrong;
}

void send_numbered(nacre::runtime& rt, nacre::rank_id target, std::uint32_t number) {
  std::vector<std::byte> bytes(length_of(number));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_of(number, i);
  const std::span<const std::byte> all(bytes);
  if (number % 3 == 0) {
    const std::size_t part = bytes.size() / 3;
    rt.send<take>(lossy, target, number,
                  nacre::gather(all.first(part), all.subspan(part, part), all.subspan(2 * part)));
  } else {
    rt.send<take>(lossy, target, number, all);
  }
  bytes.assign(bytes.size(), std::byte{0});  // it is the caller's again
}

void tell(nacre::runtime& rt, std::uint32_t sent) {
  const auto all_sent = rt.all_reduce(sent, std::plus<>{});
  const auto all_came = rt.all_reduce(came.load(), std::plus<>{});
  const auto all_wrong = rt.all_reduce(wrong.load(), std::plus<>{});
  if (rt.rank().value() == 0) std::printf("sent %u came %u wrong %u\n", all_sent, all_came, all_wrong);
}

/// In rounds, so that there is room for all of them.
void send_rounds(nacre::runtime& rt) {
  constexpr std::uint32_t count = 400;
  for (std::uint32_t number = 0; number < count; ++number) {
    send_numbered(rt, nacre::rank_id((rt.rank().value() + 1) % rt.size()), number);
    if (number % 10 == 9) {
      rt.wait_quiescence();
      rt.sleep(5e-3).wait();
      rt.barrier();
    }
  }
  rt.sleep(0.1).wait();
  tell(rt, count);
}

/// As fast as main can.
void flood(nacre::runtime& rt) {
  constexpr std::uint32_t count = 20'000;
  const nacre::rank_id over_there((rt.rank().value() + rt.size() / 2) % rt.size());
  for (std::uint32_t number = 0; number < count; ++number) send_numbered(rt, over_there, number);
  rt.sleep(0.5).wait();
  tell(rt, count);
}

int act_as_rank(int argc, char** argv) {
  const std::string_view name = argv[2];
  return nacre::run(argc, argv, name == "rounds" ? send_rounds : flood);
}

// ---- tests

struct counts {
  unsigned sent = 0, came = 0, wrong = 0;
};
counts counts_of(const outcome& got) {
  counts result;
  const std::size_t line = got.output.find("sent ");
  if (line == std::string::npos || std::sscanf(got.output.c_str() + line, "sent %u came %u wrong %u", &result.sent,
                                               &result.came, &result.wrong) != 3) {
    ADD_FAILURE() << got.output << got.errors;
  }
  return result;
}

outcome run_over(const std::string& transport, const std::string& name) {
  std::vector<std::string> words = start_of(transport, 3).words;
  for (const std::string& each : own_program(name, {})) words.push_back(each);
  ignore_foreign_leaks(transport);
  return launched(words).end();
}

class unreliable : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string missing = start_of(GetParam(), 3).missing; !missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_P(unreliable, messages_of_all_lengths_come_once_and_unchanged) {
  const outcome got = run_over(GetParam(), "rounds");
  ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
  const counts all = counts_of(got);
  EXPECT_EQ(all.sent, 1200U);
  EXPECT_EQ(all.wrong, 0U);
  if (GetParam() == std::string("udp")) {
    EXPECT_LE(all.came, 1200U);
    EXPECT_GE(all.came, 1000U) << "the kernel of a busy host drops some";
  } else {
    EXPECT_EQ(all.came, 1200U);
  }
}

TEST_P(unreliable, a_flood_of_them_keeps_neither_the_job_open_nor_its_ranks_full) {
  const outcome got = run_over(GetParam(), "flood");
  ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
  const counts all = counts_of(got);
  EXPECT_EQ(all.sent, 60'000U);
  EXPECT_LE(all.came, 60'000U);
  EXPECT_GT(all.came, 100U);
  EXPECT_EQ(all.wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(over, unreliable, testing::Values("shm", "tcp", "udp", "auto", "ucx", "openmpi", "mpich"),
                         [](const auto& each) { return std::string(each.param); });

/// The queue drops what does not fit, as the port of a switch does.
TEST(unreliable_on_two_hosts_with_a_short_queue, messages_are_lost_and_none_is_harmed_or_waited_for) {
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 0);  // a variable that is passed on must be there
  const std::string script =
      "tc qdisc add dev cable root tbf rate 200mbit burst 16k limit 32k || exit 77; run \"$@\" || exit; "
      "tc -s qdisc show dev cable";
  const outcome got = on_two_hosts(script, own_program("flood", {"--nacre.transport=udp"}));
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  ASSERT_EQ(code_of(got), 0) << got.output << got.errors;
  const counts all = counts_of(got);
  EXPECT_EQ(all.sent, 80'000U);
  EXPECT_LT(all.came, 80'000U) << got.output;
  EXPECT_GT(all.came, 100U);
  EXPECT_EQ(all.wrong, 0U);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return act_as_rank(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
