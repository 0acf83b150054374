// SPDX-License-Identifier: Apache-2.0
// Plans for invented hosts, and binding on this one.
#include "exec/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include <nacre/error.hpp>

#include "exec/thread_binding.hpp"

namespace nacre {
namespace {

using list = processor_list;

/// Two domains with four cores each; core c has the hardware threads 2c and 2c+1.
const host_cores& two_domains() {
  static const host_cores result = cores_of_synthetic_host("numa:2 core:4 pu:2");
  return result;
}

TEST(placement, reads_cores_hardware_threads_and_domains) {
  ASSERT_EQ(two_domains().size(), 8U);
  EXPECT_EQ(two_domains()[0].processors, (list{0, 1}));
  EXPECT_EQ(two_domains()[3].domain, 0U);
  EXPECT_EQ(two_domains()[4].domain, 1U);
  EXPECT_EQ(cores_of_synthetic_host("pu:3").size(), 3U);
  EXPECT_THROW(static_cast<void>(cores_of_synthetic_host("cheese:2")), setup_error);
}

TEST(placement, processes_that_share_a_host_get_disjoint_shares_that_cover_it) {
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const placement subject =
          place_threads(two_domains(), {.ranks = ranks, .rank = rank, .workers = 1, .several_processes = true});
      EXPECT_GE(subject.rank.size(), 2 * (8 / ranks));
      EXPECT_EQ(subject.workers, (std::vector<list>{subject.rank}));
      for (const std::uint32_t each : subject.rank) EXPECT_TRUE(seen.insert(each).second) << each << " is shared";
    }
    EXPECT_EQ(seen.size(), 16U);
  }
}

TEST(placement, binds_nothing_by_need_where_threads_outnumber_cores_or_one_process_has_the_host) {
  placement_request asked{.ranks = 2, .workers = 9, .several_processes = true};
  EXPECT_TRUE(place_threads(two_domains(), asked).rank.empty());
  EXPECT_EQ(place_threads(two_domains(), asked).text(), "any");
  asked.workers = 8;
  EXPECT_FALSE(place_threads(two_domains(), asked).rank.empty());
  asked.poll_thread = true;
  EXPECT_TRUE(place_threads(two_domains(), asked).rank.empty());
  EXPECT_TRUE(place_threads(two_domains(), {.ranks = 1, .workers = 8, .several_processes = true}).rank.empty());
  EXPECT_TRUE(place_threads(two_domains(), {.ranks = 2, .workers = 1}).rank.empty());
}

TEST(placement, shares_by_need_have_a_processor_for_each_thread_though_that_splits_cores) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_GE(
        place_threads(two_domains(), {.ranks = 3, .rank = rank, .workers = 5, .several_processes = true}).rank.size(),
        5U);
  }
  EXPECT_EQ(place_threads(two_domains(), {.ranks = 16, .rank = 5, .several_processes = true}).text(), "5");
}

TEST(placement, a_core_for_each_worker_and_main_in_the_share_of_its_rank) {
  const placement subject =
      place_threads(two_domains(), {.mode = binding::core, .ranks = 2, .rank = 1, .workers = 3, .poll_thread = true});
  EXPECT_EQ(subject.text(), "8-15");
  EXPECT_EQ(subject.workers, (std::vector<list>{subject.rank, {10, 11}, {12, 13}}));
  EXPECT_EQ(subject.poll_thread, (list{14, 15}));
}

TEST(placement, hardware_threads_serve_as_cores_where_there_are_too_few_of_these) {
  const placement subject = place_threads(two_domains(), {.mode = binding::core, .ranks = 4, .rank = 2, .workers = 4});
  EXPECT_EQ(subject.rank, (list{8, 9, 10, 11}));
  EXPECT_EQ(subject.workers[3], (list{11}));
}

TEST(placement, refuses_more_threads_than_there_are_and_says_what_to_try) {
  try {
    static_cast<void>(place_threads(two_domains(), {.mode = binding::core, .ranks = 4, .workers = 5}));
    FAIL() << "placed 20 threads on 16";
  } catch (const setup_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("20 threads of 4 ranks"), std::string::npos) << text;
    EXPECT_NE(text.find("--nacre.workers"), std::string::npos) << text;
  }
}

TEST(placement, domains_are_shared_out_to_ranks_or_their_workers_and_may_be_crowded) {
  const auto workers = [](std::uint32_t ranks, std::uint32_t rank, std::uint32_t workers_of_rank) {
    return place_threads(two_domains(),
                         {.mode = binding::numa, .ranks = ranks, .rank = rank, .workers = workers_of_rank});
  };
  EXPECT_EQ(workers(2, 0, 9).text(), "0-7");
  EXPECT_EQ(workers(2, 1, 9).text(), "8-15");
  EXPECT_EQ(workers(4, 1, 2).text(), "0-7");
  EXPECT_EQ(workers(4, 3, 2).text(), "8-15");
  const placement alone = workers(1, 0, 4);
  EXPECT_EQ(alone.text(), "0-15");
  EXPECT_EQ(text_of(alone.workers[1]), "0-7");
  EXPECT_EQ(text_of(alone.workers[2]), "8-15");
  EXPECT_EQ(text_of(alone.workers[3]), "8-15");
}

TEST(placement, names_lists_of_processors_by_ranges) {
  EXPECT_EQ(text_of({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(text_of({5}), "5");
  EXPECT_EQ(text_of({1, 3}), "1,3");
}

TEST(placement, respects_the_affinity_of_the_thread_that_asks) {
  std::thread([] {
    const processor_list all = processors_of_this_thread();
    ASSERT_FALSE(all.empty());
    {
      const bound_scope bound({all.back()});
      EXPECT_EQ(processors_of_this_thread(), (list{all.back()}));
      const host_cores seen = cores_of_this_host();
      ASSERT_EQ(seen.size(), 1U);
      EXPECT_EQ(seen.front().processors, (list{all.back()}));
      std::thread([&] { EXPECT_EQ(processors_of_this_thread(), (list{all.back()})); }).join();
    }
    EXPECT_EQ(processors_of_this_thread(), all);
    EXPECT_FALSE(bind_this_thread({100'000})) << "no such processor";
  }).join();
}

}  // namespace
}  // namespace nacre
