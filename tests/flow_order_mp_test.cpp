// SPDX-License-Identifier: Apache-2.0
// Messages of one thread under one policy keep their order, although several workers take turns at the poll loop.
//
// The executable is its own rank program: `flow_order_mp_test --rank`.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transports.hpp"

namespace {

using namespace nacre::tests;

constexpr std::uint32_t each_sends = 1500;
constexpr std::array policies{nacre::flow_policy::token, nacre::flow_policy::credit, nacre::flow_policy::slot};
constexpr std::array channels{nacre::channel::application, nacre::channel::bulk, nacre::channel::system};

/// What has come to this rank, by channel. One thread at a time, in the poll loop, but main looks at the end.
std::array<std::atomic<std::uint32_t>, channels.size()> next{};
std::atomic<std::uint32_t> disordered{0};
std::atomic<bool> busy{true};

void take(std::uint32_t number, std::uint32_t index) {
  if (next[index].fetch_add(1) != number) ++disordered;
}

/// Keeps a worker busy, so that it polls between two items and does not send what it has collected at once.
void keep_busy(nacre::context& ctx) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(3);
  while (std::chrono::steady_clock::now() < until) continue;
  if (busy) ctx.send<keep_busy>(ctx.rank());
}

void send_in_order(nacre::runtime& rt) {
  const nacre::rank_id other(1 - rt.rank().value());
  for (const nacre::flow_policy policy : policies) {
    busy = true;
    for (std::atomic<std::uint32_t>& each : next) each = 0;
    rt.barrier();
    for (std::uint32_t i = 0; i < 2 * rt.workers(); ++i) rt.send<keep_busy>(rt.rank());
    for (std::uint32_t number = 0; number < each_sends; ++number) {
      for (std::uint32_t index = 0; index < channels.size(); ++index) {
        const nacre::with options{.category = nacre::category::communication, .channel = channels[index]};
        rt.send_with_flow_control<take>(options, other, policy, number, index);
      }
    }
    while (next[0] + next[1] + next[2] != channels.size() * each_sends) rt.sleep(1e-3).wait();
    rt.barrier();
    busy = false;
    rt.wait_quiescence();
  }
  const std::uint32_t all = rt.all_reduce(disordered.load(), std::plus<>{});
  if (rt.rank().value() == 0) std::printf("out of order: %u\n", all);
}

class flow_order : public testing::TestWithParam<const char*> {};

TEST_P(flow_order, of_one_thread_holds_on_every_channel_although_workers_take_turns_at_the_poll_loop) {
  const auto start = start_of(GetParam(), 2);
  if (!start.missing.empty()) GTEST_SKIP() << start.missing;
  std::vector<std::string> words = start.words;
  words.insert(words.end(), {own_path(), "--rank", "--nacre.workers=3", "--nacre.flow_small=0"});
  const outcome got = launched(words).end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, "out of order: 0\n") << got.errors;
}

INSTANTIATE_TEST_SUITE_P(over, flow_order, testing::Values("shm", "tcp", "udp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--rank") return nacre::run(argc, argv, send_in_order);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
