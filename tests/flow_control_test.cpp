// SPDX-License-Identifier: Apache-2.0
// send_with_flow_control through the public interface: every policy, on threads and behind a simulated switch.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {
namespace {

constexpr std::uint32_t ranks = 4;
constexpr std::uint32_t each_sends = 40;  // at most 64
constexpr std::size_t block_bytes = 10240;

/// What has come to rank 0: a bit for each message of a sender.
struct arrivals {
  std::array<std::atomic<std::uint64_t>, ranks> got{};
  std::atomic<std::uint32_t> wrong{0}, whole{0};
};
arrivals& seen() {
  static arrivals all;
  return all;
}

void take(context& ctx, std::uint32_t number, const std::vector<std::byte>& block) {
  arrivals& all = seen();
  const std::uint64_t bit = std::uint64_t{1} << number;
  if (block.size() != block_bytes || (all.got[ctx.source().value()].fetch_or(bit) & bit) != 0) ++all.wrong;
  ++all.whole;
}

[[nodiscard]] config job_of(const std::string& transport) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "1");
  return configuration;
}

/// 200 Mbit/s, and 32 KiB in the switch; a message that is dropped comes late.
[[nodiscard]] config behind_a_switch() {
  config configuration = job_of("sim");
  configuration.set("sim.bandwidth", "0.025");
  configuration.set("sim.latency", "9us");
  configuration.set("sim.switch_buffer", "32KiB");
  configuration.set("sim.switch_retry", "20ms");
  configuration.set("flow_buffer", "32KiB");
  configuration.set("flow_patience", "2ms");
  return configuration;
}

/// All others send to rank 0. Returns the seconds until the last message has run.
[[nodiscard]] double all_send_to_one(const config& configuration, flow_policy policy) {
  for (auto& each : seen().got) each = 0;
  seen().wrong = 0;
  seen().whole = 0;
  double seconds = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  rt.barrier();
                  const double begin = rt.now();
                  const std::vector<std::byte> block(block_bytes);
                  if (rt.rank().value() != 0) {
                    for (std::uint32_t i = 0; i < each_sends; ++i) {
                      rt.send_with_flow_control<take>(rank_id{0}, policy, i, block);
                    }
                  }
                  rt.wait_quiescence();
                  if (rt.rank().value() == 0) seconds = rt.now() - begin;
                }),
            0);
  EXPECT_EQ(seen().wrong, 0U);
  EXPECT_EQ(seen().whole, each_sends * (ranks - 1));
  return seconds;
}

constexpr std::array policies{flow_policy::none, flow_policy::token, flow_policy::credit, flow_policy::slot,
                              flow_policy::automatic};

TEST(flow_control, every_policy_delivers_once_between_threads_and_in_a_simulation) {
  for (const char* const transport : {"inproc", "sim"}) {
    for (const flow_policy policy : policies) {
      SCOPED_TRACE(std::string(transport) + ", " + std::string(name_of(policy)));
      static_cast<void>(all_send_to_one(job_of(transport), policy));
    }
  }
}

TEST(flow_control, behind_a_switch_with_short_buffers_policies_keep_the_link_busy_where_plain_sends_collapse) {
  const double ideal = (ranks - 1) * each_sends * static_cast<double>(block_bytes) / 25e6;
  EXPECT_GT(all_send_to_one(behind_a_switch(), flow_policy::none), 2 * ideal);
  for (const flow_policy policy :
       {flow_policy::token, flow_policy::credit, flow_policy::slot, flow_policy::automatic}) {
    EXPECT_LT(all_send_to_one(behind_a_switch(), policy), 1.1 * ideal) << name_of(policy);
  }
}

TEST(flow_control, several_tokens_and_tokens_with_receive_buffers_keep_the_link_busy_too) {
  const double ideal = (ranks - 1) * each_sends * static_cast<double>(block_bytes) / 25e6;
  for (const char* const permits : {"1", "2", "3"}) {
    for (const char* const room : {"0B", "8KiB", "48KiB", "1MiB"}) {
      SCOPED_TRACE(std::string(permits) + " tokens, room " + room);
      config configuration = behind_a_switch();
      configuration.set("flow_permits", permits);
      configuration.set("flow_receive", room);
      const double seconds = all_send_to_one(configuration, flow_policy::token);
      const bool is_short = std::string(room) == "8KiB" || std::string(room) == "48KiB";
      EXPECT_LT(seconds, (is_short ? 2 : 1.15) * ideal);
    }
  }
}

/// What a slow receiver has been sent: the most that has left its senders and not run, in messages, which are long, so
/// that all others count for little.
struct slow_receiver {
  static constexpr std::size_t message_bytes = 20 * block_bytes;
  static constexpr double seconds = 20e-3;  // for each, where the link takes 8

  std::array<runtime*, ranks> mains{};
  std::uint32_t got = 0;
  std::uint64_t most = 0;

  void take(context& ctx, const std::vector<std::byte>& bytes) {
    std::uint64_t left = 0;
    for (std::uint32_t source = 1; source < ranks; ++source) left += mains[source]->counters().bytes_sent;
    most = std::max(most, left / message_bytes - got);
    if (bytes.size() == message_bytes) ++got;
    ctx.charge(seconds);
  }
};
slow_receiver& slow() {
  static slow_receiver all;
  return all;
}

/// Returns the virtual seconds.
double send_to_slow_receiver(const char* permits, const char* room) {
  slow() = {};
  double seconds = 0;
  config configuration = behind_a_switch();
  configuration.set("flow_permits", permits);
  configuration.set("flow_receive", room);
  configuration.set("flow_patience", "50ms");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  slow().mains[rt.rank().value()] = &rt;
                  rt.barrier();
                  const std::vector<std::byte> block(slow_receiver::message_bytes);
                  for (std::uint32_t i = 0; i < each_sends && rt.rank().value() != 0; ++i) {
                    rt.send_with_flow_control(
                        rank_id{0}, flow_policy::token,
                        [](context& ctx, const std::vector<std::byte>& bytes) { slow().take(ctx, bytes); }, block);
                  }
                  rt.wait_quiescence();
                  rt.barrier();
                  seconds = rt.now();
                }),
            0);
  EXPECT_EQ(slow().got, (ranks - 1) * each_sends);
  return seconds;
}

TEST(flow_control, a_slow_receiver_is_sent_what_its_buffers_hold_at_its_own_pace) {
  static_cast<void>(send_to_slow_receiver("1", "0B"));
  EXPECT_GT(slow().most, 30U) << "tokens without room care for the link only";
  for (const char* const permits : {"1", "4"}) {
    SCOPED_TRACE(permits);
    EXPECT_LT(send_to_slow_receiver(permits, "2MiB"), 1.1 * slow_receiver::seconds * (ranks - 1) * each_sends);
    EXPECT_LE(slow().most, 11U) << "2 MiB hold 10.2 of them";
    EXPECT_GE(slow().most, 7U);
  }
}

TEST(flow_control, one_seed_is_one_run) {
  const double once = all_send_to_one(behind_a_switch(), flow_policy::token);
  EXPECT_EQ(all_send_to_one(behind_a_switch(), flow_policy::token), once);
}

TEST(flow_control, lambdas_small_messages_and_messages_to_the_own_rank_leave_at_once) {
  static std::atomic<int> ran{0};
  ran = 0;
  EXPECT_EQ(run(job_of("sim"),
                [](runtime& rt) {
                  for (std::uint32_t target = 0; target < rt.size(); ++target) {
                    rt.send_with_flow_control(
                        rank_id(target), flow_policy::token, [](int step) { ran += step; }, 1);
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(ran, static_cast<int>(ranks * ranks));
}

TEST(flow_control, handlers_may_use_it_too) {
  static std::atomic<std::uint32_t> got{0};
  got = 0;
  EXPECT_EQ(run(behind_a_switch(),
                [](runtime& rt) {
                  rt.send(rank_id((rt.rank().value() + 1) % rt.size()), [](context& ctx) {
                    ctx.send_with_flow_control(
                        rank_id{0}, flow_policy::token,
                        [](const std::vector<std::byte>& block) { got += static_cast<std::uint32_t>(block.size()); },
                        std::vector<std::byte>(block_bytes));
                  });
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(got, ranks * block_bytes);
}

/// Its packing throws.
struct unwilling {
  template <class Archive>
  void serialize(Archive&) {
    throw std::runtime_error("will not be packed");
  }
};
void take_unwilling(const std::vector<unwilling>&) {}

TEST(flow_control, what_cannot_be_sent_is_an_error_at_the_caller_and_nothing_waits) {
  EXPECT_EQ(
      run(job_of("sim"),
          [](runtime& rt) {
            const std::vector<std::byte> block(block_bytes);
            EXPECT_THROW(rt.send_with_flow_control<take>(rank_id{99}, flow_policy::token, 0U, block), usage_error);
            EXPECT_THROW(rt.send_with_flow_control<take_unwilling>(rank_id{(rt.rank().value() + 1) % ranks},
                                                                   flow_policy::token, std::vector<unwilling>(1000)),
                         std::runtime_error);
            rt.wait_quiescence();
          }),
      0);
}

TEST(flow_control, policies_have_names) {
  for (const flow_policy policy : policies) EXPECT_EQ(flow_policy_of(name_of(policy)), policy);
  EXPECT_FALSE(flow_policy_of("automatic").has_value());
}

/// Around --nacre.flow_small, where a message is short with its header or long.
TEST(flow_control, messages_of_all_sizes_around_the_bound_of_short_ones_arrive) {
  constexpr std::size_t least = 430, most = 520;
  static std::atomic<std::size_t> bytes{0};
  for (const flow_policy policy : {flow_policy::token, flow_policy::credit, flow_policy::slot}) {
    bytes = 0;
    ASSERT_EQ(run(job_of("sim"),
                  [&](runtime& rt) {
                    if (rt.rank().value() != 1) return;
                    for (std::size_t size = least; size <= most; ++size) {
                      rt.send_with_flow_control(
                          rank_id{0}, policy, [](const std::vector<std::byte>& all) { bytes += all.size(); },
                          std::vector<std::byte>(size));
                    }
                  }),
              0);
    EXPECT_EQ(bytes, (most - least + 1) * (least + most) / 2) << name_of(policy);
  }
}

TEST(flow_control, a_policy_that_does_not_exist_is_refused_where_it_is_named) {
  ASSERT_EQ(run(job_of("sim"),
                [](runtime& rt) {
                  const std::vector<std::byte> block(block_bytes);
                  EXPECT_THROW(rt.send_with_flow_control<take>(rank_id{0}, static_cast<flow_policy>(77), 0U, block),
                               usage_error);
                }),
            0);
}

/// Each of nine ranks with short turns: a request that is dropped would cost flow_patience, which is 10 ms.
TEST(flow_control, requests_for_a_token_that_moves_fast_find_it) {
  config fast = job_of("sim");
  fast.set("ranks", "9");
  static std::atomic<int> got{0};
  got = 0;
  double seconds = 1;
  ASSERT_EQ(run(fast,
                [&](runtime& rt) {
                  rt.barrier();
                  for (int i = 0; i < 20 && rt.rank().value() != 0; ++i) {
                    rt.send_with_flow_control(
                        rank_id{0}, flow_policy::token, [](const std::vector<std::byte>&) { ++got; },
                        std::vector<std::byte>(10000));
                  }
                  rt.wait_quiescence();
                  if (rt.rank().value() == 0) seconds = rt.now();
                }),
            0);
  EXPECT_EQ(got, 160);
  EXPECT_LT(seconds, 3e-3);
}

}  // namespace
}  // namespace nacre::tests
