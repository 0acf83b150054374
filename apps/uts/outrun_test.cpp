// SPDX-License-Identifier: Apache-2.0
// The race of UTS-MPI sections 3.1.1 and 3.2.2, played by itself: work is outrun by its sender's next request or by the
// token, and requests are outrun by the token. The counters in requests and in the token put the end off.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "share.hpp"
#include "steal.hpp"

namespace uts {
namespace {

#ifdef NACRE_SLOW_ASSERTS
constexpr int networks = 10;  // sanitizers are ten to fifty times slower
#else
constexpr int networks = 100;
#endif

using way_to_search = search_result(nacre::runtime&, const rank_search_options&);

/// Some hundred nodes, so that a search is all begin and end.
constexpr rank_search_options small_search{
    .params = {.type = tree_type::geometric, .shape = tree_shape::fixed, .depth = 4, .seed = 19},
    .chunk = 1,
    .interval = 4,
    .patient = false};
constexpr std::uint64_t nodes_of_small_search = 944;

/// The figures of many searches, each on another network of 3 to 6 ranks. All deliver the messages of one channel in
/// order, as MPI does those of one tag and communicator, and those of different channels in whatever order: a share
/// `late` of the messages takes a thousand times as long as the others. Work and control messages have different
/// channels.
sharing_figures search_on_reordering_networks(way_to_search* search, const char* late) {
  sharing_figures all;
  for (int seed = 1; seed <= networks; ++seed) {
    nacre::config machine;
    machine.set("transport", "sim");
    machine.set("ranks", std::to_string(3 + seed % 4));
    machine.set("seed", std::to_string(seed));
    machine.set("balancer", "none");
    machine.set("sim.late_probability", late);
    machine.set("sim.late_factor", "1000");
    const int failed = nacre::run(machine, [&](nacre::runtime& rt) {
      const search_result result = search(rt, small_search);
      EXPECT_EQ(result.counts.nodes, nodes_of_small_search) << "seed " << seed;
      if (rt.rank().value() == 0) all = all + result.sharing;
    });
    EXPECT_EQ(failed, 0) << "seed " << seed;
  }
  return all;
}

TEST(outrun, released_chunks_are_by_the_request_that_follows_and_its_count_of_releases_tells) {
  EXPECT_GT(search_on_reordering_networks(search_by_sharing, "0.2").work_outrun, static_cast<unsigned>(networks) / 10);
}

TEST(outrun, work_and_requests_are_by_the_token_and_the_counters_in_it_tell) {
  const sharing_figures all = search_on_reordering_networks(search_by_stealing, "0.05");
  EXPECT_GT(all.work_outrun, static_cast<unsigned>(networks) / 10);
  EXPECT_GT(all.requests_outrun, static_cast<unsigned>(networks) / 10);
}

}  // namespace
}  // namespace uts
