// SPDX-License-Identifier: Apache-2.0
// Step 3 of docs/tutorial.md: calls return futures; the main waits for them, a coroutine handler awaits them.
// run: --nacre.ranks=2
// prints: 92 solutions, 92 by the coroutine
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

/// Ways to place queens in the rows that are left. Bits are columns; `left` and `right` are the diagonals that
/// queens above attack in the next row.
long count(std::uint32_t all, std::uint32_t columns, std::uint32_t left, std::uint32_t right) {
  if (columns == all) return 1;
  long ways = 0;
  for (std::uint32_t free = all & ~(columns | left | right); free != 0; free &= free - 1) {
    const std::uint32_t queen = free & (~free + 1);  // the lowest bit
    ways += count(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return ways;
}

struct solver {
  std::uint32_t size = 8;

  long with_first_queen(std::uint32_t column) const {  // const: several run at the same time
    const std::uint32_t queen = 1u << column;
    return count((1u << size) - 1, queen, queen << 1, queen >> 1);
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(size);
  }
};

nacre::task<long> ask_all(nacre::context& ctx, std::vector<nacre::mobile_ptr<solver>> solvers, std::uint32_t size) {
  std::vector<nacre::future<long>> parts;
  for (std::uint32_t column = 0; column < size; ++column) {
    parts.push_back(ctx.call<&solver::with_first_queen>(solvers[column % solvers.size()], column));
  }
  long sum = 0;
  for (nacre::future<long>& each : parts) sum += co_await std::move(each);  // the worker does something else meanwhile
  co_return sum;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;  // goes on running handlers until the whole job is over
    constexpr std::uint32_t size = 8;
    std::vector<nacre::mobile_ptr<solver>> solvers;
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
      solvers.push_back(rt.create_on<solver>(nacre::rank_id{rank}, size).get());
    }

    std::vector<nacre::future<long>> parts;
    for (std::uint32_t column = 0; column < size; ++column) {
      parts.push_back(rt.call<&solver::with_first_queen>(solvers[column % solvers.size()], column));
    }
    long sum = 0;
    for (nacre::future<long>& each : parts) sum += each.get();

    const long again = rt.call<ask_all>(nacre::rank_id{rt.size() - 1}, solvers, size).get();
    std::printf("%ld solutions, %ld by the coroutine\n", sum, again);
  });
}
