// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint over a scripted UCX: messages, their order and their bounds.
#include "transport/ucx/endpoint_test_kit.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace nacre::transport::ucx {
namespace {

message_ptr small_message(std::uint32_t handler, std::uint32_t payload_bytes) {
  message_ptr m = make_message(payload_bytes);
  std::memset(m->body(), 7, payload_bytes);
  m->header.handler = handler;
  m->header.source = local_rank.value();
  m->header.flags = flag_communication;
  return m;
}

TEST_F(end_over_played_ucx, a_message_that_a_peer_may_still_read_outlives_the_end_and_others_do_not) {
  static int ended;
  ended = 0;
  static constexpr body_ops counting{nullptr, nullptr, [](message&) noexcept { ++ended; }, true};
  wait_for_peers();
  for (const outcome outcome : {outcome::pending, outcome::done}) {
    ucx_.sends_are = outcome;
    message_list batch;
    batch.push_back(make_message(5000));
    batch.front()->ops = &counting;
    end_->submit(rank_id(1), batch);
  }
  EXPECT_EQ(ended, 1);
  end_.reset();
  EXPECT_EQ(ended, 1);
}

TEST_F(end_over_played_ucx, a_small_message_to_a_rank_travels_without_its_header_and_arrives_with_it) {
  wait_for_peers();
  message_list batch;
  batch.push_back(small_message(513, 8));
  batch.push_back(small_message(513, 0));
  batch.push_back(small_message(513, compact_bytes_max + 1));
  batch.push_back(small_message(1u << 16, 8));
  batch.push_back(small_message(513, 8));
  batch.push_back(small_message(513, 8));
  message* each = batch.front()->next->next->next->next;
  each->header.object = 5;
  each->next->header.sequence = 5;
  end_->submit(rank_id(1), batch);
  ASSERT_EQ(ucx_.frames.size(), 6U);
  EXPECT_EQ(ucx_.frames[0].bytes, 8U);
  EXPECT_EQ(ucx_.frames[1].bytes, 0U);
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_GE(ucx_.frames[i].bytes, sizeof(message_header) + 8) << i;
    EXPECT_FALSE(is_compact(ucx_.frames[i].frame_stamp)) << i;
  }

  const std::vector<std::byte> payload(8, std::byte{7});
  ucx_.next.push_back([&](port_callbacks& callbacks) {
    stamp stamp = ucx_.frames[0].frame_stamp;
    stamp.key = 1;
    stamp.source = 1;
    callbacks.arrived(application, frame_kind::message, stamp, payload);
  });
  message_list arrived;
  while (arrived.empty()) end_->poll(arrived, 100);
  message_header expected = small_message(513, 8)->header;
  expected.source = 1;
  EXPECT_EQ(std::memcmp(&arrived.front()->header, &expected, sizeof expected), 0);
  EXPECT_EQ(std::memcmp(arrived.front()->body(), payload.data(), payload.size()), 0);
}

TEST_F(end_over_played_ucx, a_compact_frame_that_may_not_be_is_the_end_of_the_peer_that_sends_it) {
  wait_for_peers();
  ucx_.next.push_back([](port_callbacks& callbacks) {
    callbacks.arrived(application, frame_kind::message, {.key = 1, .source = 1, .form = 0x80 | 15 << 3}, {});
  });
  receive();
  EXPECT_NE(failure_of_1().find("unknown kind"), std::string::npos);
  const std::vector<std::byte> long_one(compact_bytes_max + 1);
  ucx_.next.push_back([&](port_callbacks& callbacks) {
    callbacks.arrived(application, frame_kind::message, {.key = 2, .source = 2, .form = 0x80}, long_one);
  });
  receive();
  const auto seen = end_->failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->peer, rank_id(2));
  EXPECT_NE(seen->reason.find("too long"), std::string::npos);
}

TEST_F(end_over_played_ucx, the_short_numbers_of_small_messages_keep_their_order_beyond_their_end) {
  wait_for_peers();
  const std::vector<std::byte> none;
  std::size_t seen = 0;
  for (std::uint32_t number = 0; number < 140'000; number += 2) {
    for (const std::uint32_t now : {number + 1, number}) {  // the first of two comes too late
      ucx_.next.push_back([=](port_callbacks& callbacks) {
        stamp stamp{.key = 1, .source = 1, .sequence = now};
        message_header header{.handler = now % 1000, .source = 1};
        EXPECT_TRUE(compress(header, application, stamp));
        callbacks.arrived(application, frame_kind::message, stamp, {});
      });
    }
    message_list arrived;
    while (arrived.size() < 2) end_->poll(arrived, 100);
    while (const message_ptr m = arrived.pop_front()) {
      ASSERT_EQ(m->header.handler, seen % 1000);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 140'000U);
}

TEST_F(end_over_played_ucx, what_comes_early_is_held_until_its_turn) {
  wait_for_peers();
  arrive(1, frame(1));
  arrive(3, frame(3));
  EXPECT_EQ(receive(), sequences{});
  arrive(0, frame(0));
  EXPECT_EQ(receive(), (sequences{0, 1}));
  arrive(2, frame(2));
  arrive(4, frame(4));
  EXPECT_EQ(receive(), (sequences{2, 3, 4}));
}

TEST_F(end_over_played_ucx, what_a_peer_sends_before_this_rank_has_met_all_is_kept) {
  ucx_.before_first_signs.push_back([](port_callbacks& callbacks) {
    callbacks.arrived(application, frame_kind::message, {.key = 1, .source = 1}, frame(0));
  });
  wait_for_peers();
  EXPECT_EQ(receive(), sequences{0});
}

TEST_F(end_over_played_ucx, what_ucx_does_not_take_at_once_goes_its_way_as_others_and_so_does_what_follows) {
  wait_for_peers();
  const auto submit_small = [&] {
    message_list batch;
    batch.push_back(small_message(513, 8));
    end_->submit(rank_id(1), batch);
  };
  submit_small();
  ucx_.takes_at_once = false;
  ucx_.sends_are = outcome::pending;
  submit_small();
  ucx_.takes_at_once = true;
  submit_small();  // behind the one in flight, where it counts for the bounds
  ucx_.next.push_back([&](port_callbacks& callbacks) { callbacks.ended(*ucx_.frames[1].request_id, true); });
  ucx_.next.push_back([&](port_callbacks& callbacks) { callbacks.ended(*ucx_.frames[2].request_id, true); });
  receive();
  submit_small();
  ASSERT_EQ(ucx_.frames.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ucx_.frames[i].request_id.has_value(), i == 1 || i == 2) << i;
    EXPECT_EQ(ucx_.frames[i].frame_stamp.sequence & 0xffff, i) << "each has its number";
    EXPECT_TRUE(is_compact(ucx_.frames[i].frame_stamp)) << i;
    EXPECT_EQ(ucx_.frames[i].bytes, 8U) << i;
  }
}

TEST_F(end_over_played_ucx, quiet_channels_are_looked_at_now_and_then_however_much_comes_on_another) {
  for (const bool always : {true, false}) {
    open(always ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(std::chrono::hours(1)));
    wait_for_peers();
    message_list arrived;
    for (int poll = 0; poll < 3000; ++poll) end_->poll(arrived, 100);
    ucx_.looks = {};
    for (int poll = 0; poll < 400; ++poll) end_->poll(arrived, 100);
    for (const std::uint32_t looks : ucx_.looks) EXPECT_EQ(looks, 400U) << "all are quiet";
    ucx_.looks = {};
    ucx_.speaks_on = application;
    for (std::uint32_t number = 0; number < 400; ++number) {
      arrive(number, frame(number));
      end_->poll(arrived, 100);
    }
    EXPECT_EQ(arrived.size(), 400U);
    EXPECT_GE(ucx_.looks[application], 400U);
    for (const std::uint32_t channel_index : {0, 2}) {
      if (always) {
        EXPECT_EQ(ucx_.looks[channel_index], 400U);
      } else {
        EXPECT_LE(ucx_.looks[channel_index], 2U) << "before there was a busy one, and perhaps once beside it";
      }
    }
  }
}

TEST_F(end_over_played_ucx, what_is_under_way_is_bounded_from_the_oldest_on) {
  wait_for_peers();
  ucx_.sends_are = outcome::pending;
  EXPECT_GT(submit(1, 100, 960, channel::bulk), 70U);
  EXPECT_EQ(ucx_.frames.size(), 10U) << "10 kB";
  EXPECT_TRUE(end_->unsent());
  // All but the oldest end: the receiver may hold them, so no other may follow yet.
  for (std::size_t i = 1; i < 10; ++i) {
    ucx_.next.push_back(
        [request_id = *ucx_.frames[i].request_id](port_callbacks& callbacks) { callbacks.ended(request_id, true); });
  }
  receive();
  EXPECT_EQ(ucx_.frames.size(), 10U);
  EXPECT_EQ(submit(1, 1, 8, channel::system), 0U) << "a full channel holds up no other";
  EXPECT_EQ(ucx_.frames.size(), 11U);
  ucx_.next.push_back(
      [request_id = *ucx_.frames[0].request_id](port_callbacks& callbacks) { callbacks.ended(request_id, true); });
  receive();
  EXPECT_EQ(ucx_.frames.size(), 21U);
  for (std::uint32_t number = 0; number < 10; ++number) {
    EXPECT_EQ(ucx_.frames[number].frame_stamp.sequence, number);
    EXPECT_EQ(ucx_.frames[number].frame_stamp.key, 101U) << "what rank 1 has asked for";
    EXPECT_EQ(ucx_.frames[number].frame_stamp.source, local_rank.value());
  }
}

}  // namespace
}  // namespace nacre::transport::ucx
