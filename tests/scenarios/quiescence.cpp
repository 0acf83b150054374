// SPDX-License-Identifier: Apache-2.0
// Quiescence: it comes after the last message, wherever that was, and what waits for it runs then.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

void relay(context& ctx, std::uint64_t left) {
  ++board_of(ctx.rank()).seen;
  if (left != 0) ctx.send<relay>(next_of(ctx), left - 1);
}

void note_quiet(context& ctx) { board_of(ctx.rank()).sum = board_of(ctx.rank()).seen.load(); }

void chains(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    start_chain(rt);
    rt.wait_quiescence();
    EXPECT_EQ(board.seen, round * chain_visits) << "quiescence came before the last message";
    rt.barrier();
  }
}

void asynchronous(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  rt.on_quiescence<note_quiet>();
  start_chain(rt);
  rt.wait_quiescence();
  rt.wait_quiescence();  // the first is what the handlers wait for, too
  EXPECT_EQ(board.sum, chain_visits) << "the handler ran before the last message, or never";
}

constexpr std::array quiescence_table{
    scenario{"quiescence_comes_after_the_last_message", chains},
    scenario{"a_handler_for_quiescence_runs_after_the_last_message", asynchronous},
};

}  // namespace

void start_chain(runtime& rt) { rt.send<relay>(rt.rank(), chain_visits - 1); }

std::span<const scenario> quiescence_scenarios() { return quiescence_table; }

}  // namespace nacre::tests
