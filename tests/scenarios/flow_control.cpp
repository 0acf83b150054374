// SPDX-License-Identifier: Apache-2.0
// Messages under flow control: each arrives once, whichever policy, transport and number of ranks.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr std::array all_policies{flow_policy::none, flow_policy::token, flow_policy::credit, flow_policy::slot,
                                  flow_policy::automatic};
constexpr std::uint64_t each_sends = 12;

void take_block(context& ctx, std::uint64_t number, const std::vector<std::uint64_t>& block) {
  board& board = board_of(ctx.rank());
  board.seen += 1;
  board.sum += number;
  for (const std::uint64_t word : block) board.failed += word == number ? 0 : 1;
}

/// All ranks send blocks to one rank, and to their neighbours, at once.
void blocks_under_flow_control(runtime& rt, std::uint64_t seed) {
  for (const flow_policy policy : all_policies) {
    fresh_board(rt);
    const rank_id one(seed % rt.size()), next((rt.rank().value() + 1) % rt.size());
    for (std::uint64_t i = 1; i <= each_sends; ++i) {
      const std::vector<std::uint64_t> block(i % 3 == 0 ? 8 : 1500, i);  // some are small, and overtake
      rt.send_with_flow_control<take_block>(one, policy, i, block);
      rt.send_with_flow_control<take_block>(next, policy, i, block);
    }
    rt.wait_quiescence();
    EXPECT_EQ(total(rt, &board::seen), 2 * each_sends * rt.size()) << name_of(policy);
    EXPECT_EQ(total(rt, &board::sum), each_sends * (each_sends + 1) * rt.size()) << name_of(policy);
    EXPECT_EQ(total(rt, &board::failed), 0U) << name_of(policy);
  }
}

constexpr scenario flow[] = {{"blocks_under_flow_control_arrive_once_under_every_policy", blocks_under_flow_control}};

}  // namespace

std::span<const scenario> flow_scenarios() { return flow; }

}  // namespace nacre::tests
