// SPDX-License-Identifier: Apache-2.0
// A tree of tasks: each places a queen on a chess board, and sends the boards of the next row to new tasks.
// run: --nacre.workers=2
// run: --nacre.ranks=3 --nacre.workers=1
// run: --nacre.transport=sim --nacre.ranks=16
// nacre run -n 2: --nacre.workers=1
// nacre run -n 2 --transport tcp: --nacre.workers=1
// prints: 724 solutions on a board of 10 x 10, as the loop finds
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

constexpr int side = 10;
constexpr int rows_by_tasks = 4;  // the rest of each board is searched by a loop: a task should take some microseconds

/// Which columns and diagonals are taken in the next row: a bit for each column.
struct board {
  int row = 0;
  std::uint32_t columns = 0, down = 0, up = 0;

  [[nodiscard]] std::uint32_t free() const { return ((1u << side) - 1) & ~(columns | down | up); }
  [[nodiscard]] board with(std::uint32_t queen) const {
    return {row + 1, columns | queen, (down | queen) << 1, (up | queen) >> 1};
  }
};

std::uint64_t solutions_by_a_loop(const board& board) {
  if (board.row == side) return 1;
  std::uint64_t found_count = 0;
  for (std::uint32_t left = board.free(); left != 0; left &= left - 1)
    found_count += solutions_by_a_loop(board.with(left & -left));
  return found_count;
}

/// A task: an object that is not worth keeping. It may run on any rank.
struct search {
  /// Returns the number of solutions below `board`. It waits for its children, and occupies no worker meanwhile.
  nacre::task<std::uint64_t> count(nacre::context& ctx, board board) {
    ctx.charge(1e-6);
    ctx.destroy(ctx.self<search>());  // after this handler has ended
    if (board.row == rows_by_tasks) co_return solutions_by_a_loop(board);
    std::vector<nacre::future<std::uint64_t>> parts;
    for (std::uint32_t left = board.free(); left != 0; left &= left - 1) {
      parts.push_back(ctx.call<&search::count>(ctx.create<search>(), board.with(left & -left)));
    }
    std::uint64_t found_count = 0;
    for (const std::uint64_t each : co_await nacre::when_all(std::move(parts))) found_count += each;
    co_return found_count;
  }
  template <class Archive>
  void serialize(Archive&) {}
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;
    const std::uint64_t found_count = rt.call<&search::count>(rt.create<search>(), board{}).get();
    const bool right = found_count == solutions_by_a_loop({});
    std::printf("%llu solutions on a board of %d x %d, %s\n", static_cast<unsigned long long>(found_count), side, side,
                right ? "as the loop finds" : "but the loop finds others");
  });
}
