// SPDX-License-Identifier: Apache-2.0
// MPI_Alltoallv by messages to a group: each rank sends to each a part of some length, round after round.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4
// nacre run -n 3: --nacre.workers=2
// prints: 5 rounds, every part has come
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

using part = std::vector<double>;

struct exchange {
  std::vector<part> received;  // by rank
  explicit exchange(std::uint32_t ranks) : received(ranks) {}
  void take(nacre::context& ctx, part values) { received[ctx.source().value()] = std::move(values); }
};

part part_of(std::uint32_t source, std::uint32_t target, std::uint32_t round) {
  return part(2 * source + target, 100.0 * source + 10.0 * target + round);
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    constexpr std::uint32_t rounds = 5;
    const std::uint32_t own = rt.rank().value();
    bool right = true;
    const auto all = rt.create_group<exchange>(rt.size());
    for (std::uint32_t round = 0; round < rounds; ++round) {
      std::vector<part> parts, expected;
      for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
        parts.push_back(part_of(own, rank, round));
        expected.push_back(part_of(rank, own, round));
      }
      for (std::uint32_t rank = 0; rank < rt.size(); ++rank)
        rt.send<&exchange::take>(all[nacre::rank_id{rank}], parts[rank]);
      rt.wait_quiescence();  // every part is in its place
      right = right && rt.local(all).received == expected;
      rt.barrier();  // nobody overwrites parts before all have read theirs
    }
    right = rt.all_reduce(right, std::logical_and<>{});
    if (own == 0) std::printf("%u rounds, %s\n", rounds, right ? "every part has come" : "WRONG");
  });
}
