// SPDX-License-Identifier: Apache-2.0
// Searches by messages between ranks count right, whatever overtakes what.
#include "rank_search.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "presets.hpp"
#include "share.hpp"
#include "steal.hpp"

namespace uts {
namespace {

#ifdef NACRE_SLOW_ASSERTS
constexpr int seeds_max = 4;  // sanitizers are ten to fifty times slower
#else
constexpr int seeds_max = 40;
#endif

using search_function = search_result(nacre::runtime&, const rank_search_options&);

struct mode {
  const char* name;
  search_function* search;
};
constexpr mode modes[] = {{"steal", search_by_stealing}, {"share", search_by_sharing}};

/// 16,000 nodes of the published series, or some thousand of a deep binomial tree.
tree_params tree_of(bool binomial) {
  if (!binomial) return {.type = tree_type::geometric, .shape = tree_shape::fixed, .depth = 6, .seed = 19};
  return {.type = tree_type::binomial, .branching = 200, .seed = 42, .q = 0.12, .m = 8};
}

tree_counts counted_alone(const tree_params& params) {
  const tree all(params);
  search whole = search::of_whole(all);
  whole.advance(all, select_sha1(sha1_choice::portable), UINT64_MAX);
  return whole.counts();
}

/// Counts on every rank, and returns those of rank 0.
search_result count_on(nacre::config configuration, const mode& mode, const rank_search_options& options) {
  search_result result;
  const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
    const search_result site = mode.search(rt, options);
    EXPECT_EQ(site.counts, rt.broadcast(site.counts, nacre::rank_id{0})) << "every rank gets the result";
    if (rt.rank().value() == 0) result = site;
  });
  EXPECT_EQ(failed, 0);
  return result;
}

nacre::config simulated(int seed, int ranks) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("seed", std::to_string(seed));
  configuration.set("balancer", "none");
  if (seed % 2 == 0) {  // a hostile network: what goes on one channel overtakes what goes on another by far
    configuration.set("sim.jitter", "3");
    configuration.set("sim.late_probability", "0.1");
    configuration.set("sim.late_factor", "100");
  }
  return configuration;
}

class direct_search : public testing::TestWithParam<mode> {};

TEST_P(direct_search, counts_right_on_simulated_networks_of_every_kind) {
  const tree_counts expected[] = {counted_alone(tree_of(false)), counted_alone(tree_of(true))};
  for (int seed = 1; seed <= seeds_max; ++seed) {
    rank_search_options options{.params = tree_of(seed % 3 == 0), .patient = seed % 7 < 4};
    if (seed % 4 > 1) options.chunk = 1 + seed % 7;
    if (seed % 5 > 2) options.interval = 1u << (seed % 11);
    const int ranks = 1 + seed % 9;
    const search_result result = count_on(simulated(seed, ranks), GetParam(), options);
    ASSERT_EQ(result.counts, expected[seed % 3 == 0 ? 1 : 0]) << "seed " << seed << ", " << ranks << " ranks";
    EXPECT_GT(result.seconds, 0);
  }
}

TEST_P(direct_search, counts_right_on_threads_also_with_several_workers_for_each_rank) {
  const tree_counts expected = counted_alone(tree_of(false));
  for (int ranks = 1; ranks <= 4; ++ranks) {
    for (const char* progress : {"shared", "dedicated"}) {
      nacre::config configuration;
      configuration.set("ranks", std::to_string(ranks));
      configuration.set("workers", std::to_string(ranks % 2 + 1));
      configuration.set("progress", progress);
      EXPECT_EQ(count_on(configuration, GetParam(), {.params = tree_of(false), .interval = 64}).counts, expected);
    }
  }
}

TEST_P(direct_search, more_ranks_take_less_virtual_time) {
  const rank_search_options options{.params = tree_of(false), .patient = false};
  const double alone = count_on(simulated(1, 1), GetParam(), options).seconds;
  EXPECT_NEAR(alone, 16000 * seconds_a_node, 16000 * seconds_a_node / 5) << "what nodes cost is charged";
  EXPECT_LT(count_on(simulated(1, 5), GetParam(), options).seconds, alone * 0.6);
}

/// Messages between ranks while four search a chain, which nobody can share.
std::uint64_t messages_over_a_chain(bool patient) {
  const tree_params chain{.type = tree_type::balanced, .branching = 1, .depth = 20'000};
  std::uint64_t messages = 0;
  const int failed = nacre::run(simulated(1, 4), [&](nacre::runtime& rt) {
    EXPECT_EQ(search_by_stealing(rt, {.params = chain, .patient = patient}).counts.nodes, 20'001u);
    const std::uint64_t all = rt.all_reduce(rt.counters().messages_sent, std::plus<>{});
    if (rt.rank().value() == 0) messages = all;
  });
  EXPECT_EQ(failed, 0);
  return messages;
}

TEST(steal, patient_thieves_wait_instead_of_asking_for_ever) {
  EXPECT_LT(messages_over_a_chain(true), 200u);
  EXPECT_GT(messages_over_a_chain(false), 500u);
}

TEST(steal, who_waits_gets_work_as_soon_as_there_is_some) {
  rank_search_options options{
      .params = {.type = tree_type::binomial, .branching = 300, .seed = 42, .q = 0.1245, .m = 8},
      .chunk = 12,  // so large that there often is nothing to give
      .interval = 64};
  double patient = 0, impatient = 0;
  for (int seed = 1; seed <= 9; seed += 2) {
    options.patient = true;
    patient += count_on(simulated(seed, 8), modes[0], options).seconds;
    options.patient = false;
    impatient += count_on(simulated(seed, 8), modes[0], options).seconds;
  }
  EXPECT_LT(patient, 1.2 * impatient);
}

TEST(steal, asks_ranks_of_the_own_host_first_when_told_to) {
  nacre::config machine = simulated(1, 12);
  machine.set("sim.ranks_per_host", "4");
  const auto share_near = [&](std::uint32_t requests, bool one_host) {
    sharing_figures figures;
    const int failed = nacre::run(machine, [&](nacre::runtime& rt) {
      const rank_search_options options{.params = tree_of(false),
                                        .chunk = 2,
                                        .interval = 16,
                                        .patient = false,
                                        .nearby = {.requests = requests, .host = one_host ? 0 : rt.rank().value() / 4}};
      const search_result result = search_by_stealing(rt, options);
      EXPECT_EQ(result.counts.nodes, 16000u);
      if (rt.rank().value() == 0) figures = result.sharing;
    });
    EXPECT_EQ(failed, 0);
    return static_cast<double>(figures.chunks_near) / static_cast<double>(figures.chunks);
  };
  EXPECT_EQ(share_near(0, false), 0) << "hosts are not known";
  EXPECT_EQ(share_near(3, true), 1);
  const double seldom = share_near(1, false), often = share_near(8, false);
  EXPECT_GT(seldom, 3.0 / 11) << "more than by chance";
  EXPECT_GT(often, seldom);
  EXPECT_LT(often, 1) << "each host gets its first work from another";
}

TEST_P(direct_search, charges_for_what_the_manager_looks_through) {
  const auto seconds_with = [&](const simulated_costs& costs) {
    return count_on(simulated(1, 3), GetParam(),
                    {.params = tree_of(false), .interval = 64, .patient = false, .costs = costs})
        .seconds;
  };
  const double free = seconds_with({}), descriptors = seconds_with({.descriptor = 1e-6});
  EXPECT_EQ(descriptors > free * 1.2, GetParam().search == search_by_sharing) << descriptors << " after " << free;
}

TEST(share, what_adapts_itself_releases_no_faster_than_the_manager_answers) {
  const tree_params deep{.type = tree_type::binomial, .branching = 300, .seed = 42, .q = 0.1245, .m = 8};
  const auto shared_with = [&](double descriptor) {
    return count_on(simulated(1, 16), modes[1],
                    {.params = deep, .patient = false, .costs = {.descriptor = descriptor}});
  };
  const search_result quick = shared_with(0), slow = shared_with(200e-9);  // 6.4 us for each message
  EXPECT_LT(slow.sharing.chunks * 3, quick.sharing.chunks * 2);
}

TEST(share, who_has_waited_for_work_releases_no_later_for_that) {
  const tree_params deep{.type = tree_type::binomial, .branching = 300, .seed = 42, .q = 0.1245, .m = 8};
  const auto seconds_on = [&](int ranks) {
    return count_on(simulated(1, ranks), modes[1], {.params = deep, .patient = false}).seconds;
  };
  EXPECT_LT(seconds_on(64), 0.7 * seconds_on(16));
}

TEST_P(direct_search, an_interval_is_the_number_of_nodes_between_two_looks_however_many_children_a_node_has) {
  nacre::config machine = simulated(1, 1);
  machine.set("sim.poll", "1us");
  for (const bool binomial : {false, true}) {  // four children on average, or eight
    const double nodes = static_cast<double>(counted_alone(tree_of(binomial)).nodes);
    for (const std::uint32_t interval : {1u, 2u, 4u}) {
      const double seconds =
          count_on(machine, GetParam(), {.params = tree_of(binomial), .interval = interval, .patient = false}).seconds;
      const double looks = (seconds - nodes * seconds_a_node) / 1.1e-6;  // 0.1 us are the runtime's own
      EXPECT_NEAR(looks * interval / nodes, 1, 0.35) << interval << " nodes";
    }
  }
}

TEST_P(direct_search, tells_how_it_was_shared) {
  const search_result result =
      count_on(simulated(1, 5), GetParam(), {.params = tree_of(false), .chunk = 4, .interval = 64, .patient = false});
  const bool steals = GetParam().search == search_by_stealing;
  EXPECT_GT(result.sharing.last_node, 16000 / 5 * seconds_a_node);
  EXPECT_LT(result.sharing.last_node, result.seconds);
  EXPECT_GT(result.sharing.chunks, 4u) << "each of the others had one";
  EXPECT_EQ(result.sharing.refusals > 0, steals);
}

INSTANTIATE_TEST_SUITE_P(each, direct_search, testing::ValuesIn(modes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(pace, a_fixed_one_stays_and_an_adaptive_one_grows_by_looks_in_vain_and_returns_after_a_hit) {
  pace fixed(100, {});
  for (int look = 0; look < 100; ++look) fixed.looked(false);
  EXPECT_EQ(fixed.nodes(), 100u);

  pace adaptive({}, {.growth_after = 2, .most = 256, .seconds_most = 1});
  adaptive.generated(1000, 1e-3);
  EXPECT_EQ(adaptive.nodes(), adaption().least);
  adaptive.looked(false);
  EXPECT_EQ(adaptive.nodes(), adaption().least);
  adaptive.looked(false);
  EXPECT_EQ(adaptive.nodes(), 2 * adaption().least);
  for (int look = 0; look < 100; ++look) adaptive.looked(false);
  EXPECT_EQ(adaptive.nodes(), 256u);
  adaptive.looked(true);
  EXPECT_EQ(adaptive.nodes(), adaption().least);
}

TEST(pace, an_adaptive_one_may_grow_by_less_than_a_node_at_a_time) {
  pace slow({}, {.growth_after = 1, .growth = 1.01, .least = 10, .seconds_most = 1});
  slow.generated(1000, 1e-3);
  for (int look = 0; look < 70; ++look) slow.looked(false);
  EXPECT_EQ(slow.nodes(), 20u);
}

TEST(pace, an_adaptive_one_is_never_longer_than_somebody_may_wait) {
  pace adaptive({}, {.growth_after = 1, .seconds_most = 10e-6});
  const auto nodes_after = [&](double seconds) {
    adaptive.generated(5000, seconds);
    for (int look = 0; look < 100; ++look) adaptive.looked(false);
    return adaptive.nodes();
  };
  EXPECT_EQ(nodes_after(500e-6), 100u);  // 0.1 us a node
  EXPECT_EQ(nodes_after(500e-3), 16u);   // 50 us
}

TEST(pace, an_adaptive_one_is_never_shorter_than_an_answer_takes) {
  pace adaptive({}, {.growth_after = 1, .most = 256, .seconds_most = 1});
  adaptive.generated(1000, 1e-3);
  for (int answer = 0; answer < 20; ++answer) adaptive.answered(1e-3);
  EXPECT_EQ(adaptive.nodes(), adaption().least) << "from the next look on";
  adaptive.looked(true);
  EXPECT_NEAR(adaptive.nodes(), 1000, 1);
  for (int answer = 0; answer < 20; ++answer) adaptive.answered(100e-6);
  adaptive.looked(true);
  EXPECT_NEAR(adaptive.nodes(), 100, 1);
  adaptive.answered(1e9);
  adaptive.looked(true);
  EXPECT_EQ(adaptive.nodes(), 1u << 20);

  pace fixed(100, {});
  fixed.generated(1000, 1e-3);
  fixed.answered(1);
  fixed.looked(true);
  EXPECT_EQ(fixed.nodes(), 100u);
}

TEST(rank_search, gives_half_of_the_work_by_itself_if_it_has_nodes_enough) {
  const tree_params params{.type = tree_type::balanced, .branching = 8, .depth = 8};
  const tree all(params);
  search whole = search::of_whole(all);
  whole.advance(all, select_sha1(sha1_choice::portable), 8);
  ASSERT_EQ(whole.stack().size(), 8u);
  for (const std::size_t least : {8u, 9u}) {
    rank_search mine({.params = params}, {.stack_least = least});
    mine.take_over(search(whole));
    EXPECT_EQ(mine.surplus().stack().size(), least == 8 ? 4u : 0u);
  }
}

TEST(rank_search, gives_the_oldest_chunk_and_only_when_it_has_more_than_two) {
  const tree_params params{.type = tree_type::balanced, .branching = 8, .depth = 8};
  const tree all(params);
  search whole = search::of_whole(all);
  whole.advance(all, select_sha1(sha1_choice::portable), 9);  // the 8 children of the root and 64 more
  const auto nodes = whole.stack();
  const auto count = static_cast<std::uint32_t>(nodes.size());
  const auto given_by = [&](std::uint32_t chunk) {
    rank_search mine({.params = params, .chunk = chunk}, {});
    mine.take_over(search(whole));
    return mine.surplus();
  };
  EXPECT_TRUE(given_by((count + 1) / 2).finished());
  const search chunk = given_by(3);
  EXPECT_EQ(chunk.stack(), std::vector<node>(nodes.begin(), nodes.begin() + 3));
  EXPECT_EQ(chunk.counts(), tree_counts{}) << "the counts stay";
}

}  // namespace
}  // namespace uts
