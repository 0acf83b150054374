// SPDX-License-Identifier: Apache-2.0
// The second example of docs/communication.md: where each rank's part of one file begins, and who has how much.
// run: --nacre.ranks=4
// run: --nacre.transport=sim --nacre.ranks=4
// nacre run -n 4: --nacre.workers=1
// prints: rank 3 writes 4 lines at line 6
// prints: 10 lines, at most 4 of a rank, line 5 is rank 2's
#include <nacre/nacre.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::rank_id root{0};
    const int lines = static_cast<int>(rt.rank().value()) + 1;  // every rank has another number of them

    const int begin = rt.exclusive_scan(lines, 0, std::plus<>{});  // the sum of the ranks before
    std::printf("rank %u writes %d lines at line %d\n", rt.rank().value(), lines, begin);

    const int most = rt.all_reduce(lines, [](int a, int b) { return std::max(a, b); });
    const std::optional<int> all = rt.reduce(lines, std::plus<>{}, root);  // a value at the root only
    const std::vector<int> begins = rt.gather(begin, root);                // by rank, at the root
    if (all) {
      const auto middle = std::upper_bound(begins.begin(), begins.end(), *all / 2);
      std::printf("%d lines, at most %d of a rank, line %d is rank %d's\n", *all, most, *all / 2,
                  static_cast<int>(middle - begins.begin()) - 1);
    }
  });
}
