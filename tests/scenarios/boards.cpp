// SPDX-License-Identifier: Apache-2.0
// The boards of the ranks of this process, and their sums.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "scenarios.hpp"

namespace nacre::tests {

board& board_of(rank_id rank) {
  static std::array<board, 64> all;
  return all.at(rank.value());
}

board& fresh_board(runtime& rt) {
  board& self = board_of(rt.rank());
  for (auto* field : {&self.seen, &self.sum, &self.reported, &self.failed}) *field = 0;
  rt.barrier();
  return self;
}

std::uint64_t total(runtime& rt, std::atomic<std::uint64_t> board::*field) {
  return rt.all_reduce((board_of(rt.rank()).*field).load(), std::plus<>{});
}

}  // namespace nacre::tests
