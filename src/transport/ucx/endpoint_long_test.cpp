// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint over a scripted UCX: long messages, which stay at their senders until they are fetched.
#include "transport/ucx/endpoint_test_kit.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nacre::transport::ucx {
namespace {

TEST_F(end_over_played_ucx, what_is_announced_holds_its_place_until_it_is_there) {
  wait_for_peers();
  const auto body = frame(0, 5000);
  announce(0, body.size());
  arrive(1, frame(1));
  arrive(0, frame(7, 8, channel::system), 0);
  EXPECT_EQ(receive(), sequences{7}) << "another channel is not held";
  ASSERT_EQ(ucx_.fetches.size(), 1U);
  bring(0, body);
  EXPECT_EQ(receive(), (sequences{0, 1}));
}

TEST_F(end_over_played_ucx, long_messages_are_fetched_one_after_the_other_and_shorter_ones_together) {
  wait_for_peers();
  const auto payload_bytes = std::uint32_t{600} << 10;
  for (std::uint32_t number = 0; number < 3; ++number) announce(number, sizeof(message_header) + payload_bytes);
  announce(0, sizeof(message_header) + 5000, 2);
  receive();
  ASSERT_EQ(ucx_.fetches.size(), 2U) << "one on each channel";
  for (std::uint32_t number = 0; number < 3; ++number) {
    const std::size_t fetch = number == 0 ? 0 : number + 1;
    EXPECT_EQ(ucx_.fetches[fetch].handle, number + 1) << "in their order";
    bring(fetch, frame(number, payload_bytes));
    message_list arrived;
    while (arrived.empty()) end_->poll(arrived, 100);
    EXPECT_EQ(arrived.front()->header.sequence, number);
    EXPECT_EQ(ucx_.fetches.size(), number + 2) << "the next one waits until this one can have been handled";
    receive();
  }
  for (std::uint32_t number = 3; number < 20; ++number) announce(number, sizeof(message_header) + 5000);
  receive();
  EXPECT_EQ(ucx_.fetches.size(), 4U + 17);
}

TEST_F(end_over_played_ucx, a_waiting_thread_does_not_sleep_over_an_announced_message) {
  wait_for_peers();
  ucx_.next.push_back([](port_callbacks&) {});  // keeps the first sleep short; the endpoint then sees the request
  announce(0, sizeof(message_header) + 5000);
  while (!ucx_.next.empty()) end_->wait(std::chrono::seconds(10));
  const auto begin = std::chrono::steady_clock::now();
  end_->wait(std::chrono::seconds(10));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, ucx_endpoint::sleep_max / 2);
  EXPECT_EQ(receive(), sequences{});
  EXPECT_EQ(ucx_.fetches.size(), 1U);
}

TEST_F(end_over_played_ucx, a_thread_that_waits_for_a_long_message_sleeps_although_the_next_one_is_announced) {
  wait_for_peers();
  for (std::uint32_t number = 0; number < 2; ++number) announce(number, sizeof(message_header) + (600 << 10));
  receive();
  ASSERT_EQ(ucx_.fetches.size(), 1U);
  const auto begin = std::chrono::steady_clock::now();
  for (int wait = 0; wait < 3; ++wait) {
    end_->wait(std::chrono::seconds(10));
    receive();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, ucx_endpoint::sleep_max);
  EXPECT_EQ(ucx_.fetches.size(), 1U);
}

TEST_F(end_over_played_ucx,
       a_thread_that_waits_where_nothing_moves_and_nothing_can_be_armed_polls_less_and_less_often) {
  wait_for_peers();
  ucx_.arms = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto waits_within = [&](std::chrono::milliseconds time) {
    std::uint32_t waits = 0;
    for (; std::chrono::steady_clock::now() - begin < time; ++waits) {
      end_->wait(std::chrono::seconds(10));
      EXPECT_EQ(receive(), sequences{});
    }
    return waits;
  };
  static_cast<void>(waits_within(std::chrono::milliseconds(40)));
  EXPECT_LE(waits_within(std::chrono::milliseconds(140)), 100U);  // 2 ms apart, instead of some microseconds
}

TEST_F(end_over_played_ucx, what_the_lost_have_announced_is_refused_and_so_is_the_rest_in_the_end) {
  wait_for_peers();
  announce(0, sizeof(message_header) + (600 << 10));
  announce(1, sizeof(message_header) + (600 << 10));
  receive();
  ASSERT_EQ(ucx_.fetches.size(), 1U);
  liveness_sockets_[1].reset();
  EXPECT_NE(failure_of_1().find("without a shutdown"), std::string::npos);
  ucx_.next.push_back(
      [request_id = ucx_.fetches[0].request_id](port_callbacks& callbacks) { callbacks.ended(request_id, true); });
  EXPECT_EQ(receive(), sequences{});
  EXPECT_EQ(ucx_.refused, std::vector<std::uintptr_t>{2});
  EXPECT_EQ(ucx_.fetches.size(), 1U);
  for (const std::uint32_t number : {0U, 1U}) {
    ucx_.next.push_back([=](port_callbacks& callbacks) {
      callbacks.place_for(application, frame_kind::message, {.key = 2, .source = 2, .sequence = number}, 600 << 10,
                          {reinterpret_cast<void*>(std::uintptr_t{number} + 11)});
    });
  }
  receive();
  end_.reset();
  EXPECT_EQ(ucx_.refused, (std::vector<std::uintptr_t>{2, 12}));
}

}  // namespace
}  // namespace nacre::transport::ucx
