// SPDX-License-Identifier: Apache-2.0
// The example of docs/communication.md: heat along a rod that is spread over the ranks, with one-sided halos.
// run: --nacre.ranks=4
// run: --nacre.transport=sim --nacre.ranks=8
// nacre run -n 3: --nacre.workers=1
// prints: heat 1000
#include <nacre/nacre.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    constexpr std::size_t cells = 100;  // of a rank; one more at either end belongs to a neighbour
    const auto rank = rt.rank().value();
    std::vector<double> now(cells + 2), next(cells + 2);
    if (rank == 0) now[1] = 1000;

    // Handles are values: everybody gets everybody's.
    nacre::remote_memory<double> mine = rt.expose(std::span(now));
    std::vector<nacre::remote_memory<double>> all;
    for (unsigned r = 0; r < rt.size(); ++r) all.push_back(rt.broadcast(mine, nacre::rank_id{r}));

    for (int step = 0; step < 200; ++step) {
      const bool first = rank == 0, last = rank + 1 == rt.size();
      nacre::future<void> left, right;
      if (!first) left = rt.put(all[rank - 1], cells + 1, std::span(&now[1], 1));
      if (!last) right = rt.put(all[rank + 1], 0, std::span(&now[cells], 1));
      if (!first) left.get();  // the value is in place over there
      if (!last) right.get();
      rt.barrier();  // so is everybody's

      if (first) now[0] = now[1];
      if (last) now[cells + 1] = now[cells];
      for (std::size_t i = 1; i <= cells; ++i) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
      for (std::size_t i = 1; i <= cells; ++i) now[i] = next[i];
      rt.barrier();  // nobody overwrites a halo that is still being read
    }
    rt.withdraw(mine);

    double heat = 0;
    for (std::size_t i = 1; i <= cells; ++i) heat += now[i];
    heat = rt.all_reduce(heat, std::plus<>{});
    if (rank == 0) std::printf("heat %.0f\n", std::round(heat));
  });
}
