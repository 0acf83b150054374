// SPDX-License-Identifier: Apache-2.0
// Messages over a scripted MPI: order, bounds, and which messages wait for which.
#include "transport/mpi/endpoint_test_kit.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace nacre::transport::mpi {
namespace {

TEST_F(end_over_script, what_comes_behind_a_payload_waits_for_it_and_other_channels_do_not) {
  arrive(0, 8);
  arrive(1, long_payload);
  arrive(2, 8);
  arrive(3, long_payload);
  arrive(4, 8);
  arrive(5, 8, channel::system);
  EXPECT_EQ(polled(), (sequences{5, 0})) << "the system channel comes first";
  complete_payload(1);
  EXPECT_EQ(polled(), sequences{}) << "the later body is there first, and waits";
  complete_payload(0);
  EXPECT_EQ(polled(), (sequences{1, 2, 3, 4}));
  EXPECT_FALSE(end.failed());
}

TEST_F(end_over_script, a_message_whose_header_is_compact_travels_as_its_payload_and_a_word) {
  message_header header{.handler = 513, .source = local_rank.value(), .flags = flag_communication};
  for (const std::uint32_t payload_bytes : {0U, 8U, 150U}) {
    message_list batch;
    batch.push_back(make_message(payload_bytes));
    header.payload_bytes = payload_bytes;
    batch.front()->header = header;
    mpi.calls.clear();
    end.submit(rank_id(1), batch);
    ASSERT_EQ(mpi.calls.size(), 1U);
    EXPECT_EQ(mpi.calls[0].bytes.size(), payload_bytes);
    const std::uint32_t word = mpi.calls[0].request.word;
    EXPECT_NE(word, 0U);
    EXPECT_LT(word, 1U << word_bits);

    mpi.arriving.push_back({1, 2, std::vector<std::byte>(payload_bytes, std::byte{0x5a}), word});
    message_list arrived;
    end.poll(arrived, 1);
    const message_ptr m = arrived.pop_front();
    ASSERT_TRUE(m);
    header.source = 2;
    EXPECT_EQ(std::memcmp(&m->header, &header, sizeof header), 0) << "as the one that was sent, from another rank";
    EXPECT_EQ(std::count(m->body(), m->body() + payload_bytes, std::byte{0x5a}), payload_bytes);
    header.source = local_rank.value();
  }
  EXPECT_FALSE(end.failed());
}

TEST_F(end_over_script, headers_travel_that_say_more_or_where_there_are_no_words) {
  const auto bytes_sent = [&](mpi_endpoint& endpoint, std::uint32_t sequence) {
    message_list batch;
    batch.push_back(numbered(sequence, 8));
    batch.front()->header.source = local_rank.value();
    mpi.calls.clear();
    endpoint.submit(rank_id(1), batch);
    EXPECT_EQ(mpi.calls.at(0).request.word == 0, mpi.calls.at(0).bytes.size() != 8);
    return mpi.calls.at(0).bytes.size();
  };
  EXPECT_EQ(bytes_sent(end, 0), 8U);
  EXPECT_EQ(bytes_sent(end, 1), header_bytes + 8);
  mpi.carries_words = false;
  mpi_endpoint wordless{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                        end_settings};
  EXPECT_EQ(bytes_sent(wordless, 0), header_bytes + 8);
}

TEST_F(end_over_script, a_compact_message_waits_for_the_payload_before_it) {
  arrive(0, long_payload);
  mpi.arriving.push_back({1, 1, std::vector<std::byte>(8), word_of_compact(0)});
  EXPECT_EQ(polled(), sequences{});
  complete_payload(0);
  EXPECT_EQ(polled().size(), 2U);
}

TEST_F(end_over_script, a_long_message_is_a_rendezvous_request_and_a_payload_without_a_copy) {
  message_list batch;
  batch.push_back(numbered(7, long_payload));
  const std::byte* const body = batch.front()->body();
  end.submit(rank_id(1), batch);
  ASSERT_EQ(mpi.calls.size(), 2U);
  EXPECT_EQ(mpi.calls[0].bytes.size(), header_bytes);
  EXPECT_EQ(mpi.calls[1].operation, "payload");
  EXPECT_EQ(mpi.calls[1].bytes.data(), body);
  EXPECT_EQ(mpi.calls[1].bytes.size(), long_payload);
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_bytes_that_leave) {
  constexpr std::size_t fragment_bytes = header_bytes + 100;
  constexpr std::size_t window_bytes = mpi_endpoint::window_slots * shape.bytes;
  constexpr std::size_t fragments_of_two_windows = 2 * ((window_bytes + fragment_bytes - 1) / fragment_bytes);
  submit(400, 100);
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"), fragments_of_two_windows);
  EXPECT_EQ(mpi.count("matched"), 2U);
  EXPECT_TRUE(end.unsent());
  complete_all("matched");
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"), fragments_of_two_windows) << "as many again";
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_number_of_short_fragments_that_leave) {
  message_list batch;
  for (int i = 0; i < 1000; ++i) batch.push_back(make_message(0));
  end.submit(rank_id(1), batch);
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"),
            2 * mpi_endpoint::window_slots * mpi_endpoint::short_fragments_in_a_slot);
  EXPECT_EQ(mpi.count("matched"), 2U);
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_payloads_that_leave) {
  submit(10, long_payload);
  EXPECT_EQ(mpi.count("payload"), mpi_endpoint::payloads_max);
  complete_all("payload");
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("payload"), mpi_endpoint::payloads_max);
}

TEST_F(end_over_script, submit_behind_payloads_that_have_left_starts_the_next_ones) {
  submit(10, long_payload);
  complete_all("payload");
  submit(1, long_payload);
  EXPECT_EQ(mpi.count("payload"), mpi_endpoint::payloads_max) << "nobody has polled";
}

TEST_F(end_over_script, a_payload_that_submit_finds_complete_is_delivered_by_the_next_poll) {
  arrive(0, long_payload);
  EXPECT_EQ(polled(), sequences{});
  submit(1, long_payload);
  complete_payload(0);
  submit(1, long_payload);
  EXPECT_TRUE(mpi.complete.empty());
  EXPECT_EQ(polled(), sequences{0});
}

TEST_F(end_over_script, a_look_begins_few_payloads_and_the_next_ones_wait_for_those_that_are_under_way) {
  constexpr std::uint32_t payload = 400 * 1024;  // more than a poll starts; three are more than may be in flight
  for (std::uint32_t i = 0; i < 4; ++i) arrive(i, payload);
  arrive(4, 8, channel::system);
  message_list arrived;
  for (std::size_t look = 1; look <= 3; ++look) {
    end.poll(arrived, 100);
    EXPECT_EQ(mpi.count("receive"), look);
  }
  ASSERT_EQ(arrived.size(), 1U) << "what is short does not wait for them";
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("receive"), 3U);
  complete_payload(1);
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("receive"), 4U);
  for (const std::size_t each : {0, 2, 3}) complete_payload(each);
  EXPECT_EQ(polled(), (sequences{0, 1, 2, 3}));
}

TEST_F(end_over_script, payloads_of_a_lost_peer_are_not_begun) {
  for (std::uint32_t i = 0; i < 4; ++i) arrive(i, 600 * 1024);
  message_list arrived;
  for (int look = 0; look < 5; ++look) end.poll(arrived, 100);
  EXPECT_EQ(mpi.count("receive"), 2U);
  mpi.arriving.push_back({0, 1, std::vector<std::byte>(7)});
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(end.failed());
  complete_payload(0);
  EXPECT_EQ(polled(), sequences{0});
  EXPECT_EQ(mpi.count("receive"), 2U);
}

TEST_F(end_over_script, a_full_link_leaves_the_rest_to_its_caller_and_holds_up_no_other_channel) {
  const std::size_t taken = submit(10000, 100);
  EXPECT_LT(taken, 10000U);
  EXPECT_LT(taken * (header_bytes + 100), end_settings.output_bytes_max + 3 * mpi_endpoint::window_slots * shape.bytes);
  EXPECT_EQ(submit(10, 100), 0U);
  mpi.calls.clear();
  EXPECT_EQ(submit(1, 8, channel::system), 1U);
  EXPECT_EQ(mpi.count("send"), 1U) << "it leaves at once";
}

TEST_F(end_over_script, fragments_that_mpi_keeps_for_a_while_are_kept_until_it_has_sent_them) {
  mpi.fragments_leave_at_once = false;
  submit(3, 8);
  ASSERT_EQ(mpi.calls.size(), 3U);
  message_list others;  // would take the memory of any message released too early
  for (std::uint32_t i = 0; i < 10; ++i) others.push_back(numbered(99, 8));
  for (std::uint32_t i = 0; i < 3; ++i) {
    message_header header;
    std::memcpy(&header, mpi.calls[i].bytes.data(), header_bytes);
    EXPECT_EQ(header.sequence, i);
  }
  complete_all("send");
  EXPECT_EQ(polled(), sequences{});
}

TEST_F(end_over_script, a_peer_that_takes_nothing_holds_up_no_other) {
  mpi.fragments_leave_at_once = false;
  EXPECT_GT(submit(400, 8), 300U);
  EXPECT_EQ(mpi.count("send"), mpi_endpoint::fragments_pending_max);
  mpi.calls.clear();
  message_list batch;
  batch.push_back(numbered(0, 8));
  end.submit(rank_id(2), batch);
  EXPECT_EQ(mpi.count("send"), 1U);
}

TEST_F(end_over_script, payloads_that_stand_still_hold_up_others_for_a_while_only) {
  for (const auto patience : {std::chrono::nanoseconds(std::chrono::hours(1)), std::chrono::nanoseconds(0)}) {
    end_settings.stall_timeout = patience;
    mpi_endpoint patient{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                         end_settings};
    mpi.calls.clear();
    message_list arrived;
    for (std::uint32_t i = 0; i < 5; ++i) arrive(i, 600 * 1024);
    for (int look = 0; look < 20; ++look) patient.poll(arrived, 100);
    EXPECT_EQ(mpi.count("receive"), patience == std::chrono::nanoseconds(0) ? 5U : 2U);
  }
}

}  // namespace
}  // namespace nacre::transport::mpi
