// SPDX-License-Identifier: Apache-2.0
// The promises of every backend about messages, for each row of the table and several numbers of ranks.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "transport/conformance/streams.hpp"
#include "transport/udp/losing_backend_test_kit.hpp"

namespace nacre::transport::conformance {
namespace {

class jobs : public ::testing::TestWithParam<subject> {};

INSTANTIATE_TEST_SUITE_P(every_backend, jobs, ::testing::ValuesIn(every_backend_with({1, 2, 3, 8})),
                         [](const auto& each) { return name_of(each.param); });

INSTANTIATE_TEST_SUITE_P(lossy, jobs,
                         ::testing::Values(subject{&udp::losing_backend<1>(), 8},
                                           subject{&udp::losing_backend<10>(), 3},
                                           subject{&udp::losing_backend<30>(), 2}),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(jobs, connect_all_ranks_and_declare_the_same_on_each) {
  job under_test(GetParam());
  EXPECT_EQ(under_test.net().size(), GetParam().ranks);
  EXPECT_EQ(under_test.net().local_ranks().size(), GetParam().ranks);
  for (std::uint32_t rank = 0; rank < under_test.size(); ++rank) {
    EXPECT_EQ(under_test.at(rank).rank(), rank_id(rank));
    EXPECT_EQ(under_test.at(rank).size(), GetParam().ranks);
    EXPECT_EQ(under_test.at(rank).declared().virtual_time, GetParam().row->virtual_time);
    EXPECT_FALSE(under_test.at(rank).unsent());
  }
}

TEST_P(jobs, messages_sent_one_by_one_arrive_once_and_in_order_on_their_channel) {
  job under_test(GetParam());
  under_test.run(everyone_sends(under_test.size(), {.payload_bytes = {0, 1, 39, 40, 4096}, .messages = 50}));
}

TEST_P(jobs, batches_of_thousands_arrive_once_and_in_order) {
  job under_test(GetParam());
  const std::uint32_t messages = 4000 / under_test.size();
  under_test.run(
      everyone_sends(under_test.size(), {.payload_bytes = {8, 0, 100}, .messages = messages, .batch = 3000}));
}

TEST_P(jobs, large_payloads_arrive_unharmed_between_small_ones) {
  job under_test(GetParam());
  const bool few = under_test.size() < 8;
  const std::vector<std::uint32_t> sizes{few ? 1u << 20 : 1u << 18, 3, 8192, 16384, 16343, 65536, 100, 0};
  const std::uint32_t messages = few ? 8 : 4;
  under_test.run(everyone_sends(under_test.size(), {.payload_bytes = sizes, .messages = messages, .batch = 5}));
}

TEST_P(jobs, a_flood_in_all_directions_with_small_buffers_does_not_lock_up) {
  job under_test(GetParam(), job::buffers::tight);
  const std::uint32_t messages = 600 / (under_test.size() * under_test.size()) + 2;
  under_test.run(everyone_sends(under_test.size(),
                                {.payload_bytes = {4096, 30000, 200, 100000}, .messages = messages, .batch = 400}));
}

TEST_P(jobs, ranks_that_close_one_after_the_other_are_no_failures) {
  job under_test(GetParam());
  for (std::uint32_t leaving = 0; leaving < under_test.size(); ++leaving) {
    under_test.at(leaving).close(std::chrono::seconds(10));
    for (std::uint32_t staying = leaving + 1; staying < under_test.size(); ++staying) {
      endpoint& local_end = under_test.at(staying);
      message_list to_nobody;
      to_nobody.push_back(numbered_message(local_end.rank(), channel::application, 0, 100));
      for (int round = 0; round < 3; ++round) {
        message_list arrived;
        local_end.submit(rank_id(leaving), to_nobody);
        local_end.poll(arrived, 10);
        under_test.run_until_idle();
        EXPECT_TRUE(arrived.empty());
        EXPECT_FALSE(local_end.failed());
      }
      EXPECT_TRUE(to_nobody.empty()) << "what is meant for a rank that has left is taken and dropped";
    }
  }
}

}  // namespace
}  // namespace nacre::transport::conformance
