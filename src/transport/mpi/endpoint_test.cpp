// SPDX-License-Identifier: Apache-2.0
// Messages over a played MPI: order, bounds, and who waits for which.
#include "transport/mpi/endpoint_test_kit.hpp"

#include <atomic>
#include <thread>

namespace nacre::transport::mpi {
namespace {

TEST_F(end_over_script, what_comes_behind_a_body_waits_for_it_and_other_channels_do_not) {
  arrive(0, 8);
  arrive(1, long_payload);
  arrive(2, 8);
  arrive(3, long_payload);
  arrive(4, 8);
  arrive(5, 8, channel::system);
  EXPECT_EQ(polled(), (sequences{0, 5}));
  complete_body(1);
  EXPECT_EQ(polled(), sequences{}) << "the later body is there first, and waits";
  complete_body(0);
  EXPECT_EQ(polled(), (sequences{1, 2, 3, 4}));
  EXPECT_FALSE(end.failed());
}

TEST_F(end_over_script, a_message_whose_header_is_brief_travels_as_its_payload_and_a_word) {
  message_header header{.handler = 513, .source = own.value(), .flags = flag_communication};
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
    header.source = own.value();
  }
  EXPECT_FALSE(end.failed());
}

TEST_F(end_over_script, headers_travel_that_say_more_or_where_there_are_no_words) {
  const auto bytes_sent = [&](mpi_endpoint& by, std::uint32_t sequence) {
    message_list batch;
    batch.push_back(numbered(sequence, 8));
    batch.front()->header.source = own.value();
    mpi.calls.clear();
    by.submit(rank_id(1), batch);
    EXPECT_EQ(mpi.calls.at(0).request.word == 0, mpi.calls.at(0).bytes.size() != 8);
    return mpi.calls.at(0).bytes.size();
  };
  EXPECT_EQ(bytes_sent(end, 0), 8U);
  EXPECT_EQ(bytes_sent(end, 1), header_bytes + 8);
  mpi.carries_words = false;
  mpi_endpoint wordless{own, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(), how};
  EXPECT_EQ(bytes_sent(wordless, 0), header_bytes + 8);
}

TEST_F(end_over_script, a_brief_message_waits_for_the_body_before_it) {
  arrive(0, long_payload);
  mpi.arriving.push_back({1, 1, std::vector<std::byte>(8), 1U << brief_bits});
  EXPECT_EQ(polled(), sequences{});
  complete_body(0);
  EXPECT_EQ(polled().size(), 2U);
}

TEST_F(end_over_script, a_long_message_is_a_notice_and_a_body_without_a_copy) {
  message_list batch;
  batch.push_back(numbered(7, long_payload));
  const std::byte* const body = batch.front()->body();
  end.submit(rank_id(1), batch);
  ASSERT_EQ(mpi.calls.size(), 2U);
  EXPECT_EQ(mpi.calls[0].bytes.size(), header_bytes);
  EXPECT_EQ(mpi.calls[1].what, "body");
  EXPECT_EQ(mpi.calls[1].bytes.data(), body);
  EXPECT_EQ(mpi.calls[1].bytes.size(), long_payload);
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_bytes_that_leave) {
  constexpr std::size_t piece_bytes = header_bytes + 100;
  constexpr std::size_t window_bytes = mpi_endpoint::window_slots * shape.bytes;
  constexpr std::size_t pieces_of_two_windows = 2 * ((window_bytes + piece_bytes - 1) / piece_bytes);
  submit(400, 100);
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"), pieces_of_two_windows);
  EXPECT_EQ(mpi.count("matched"), 2U);
  EXPECT_TRUE(end.unsent());
  complete_all("matched");
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"), pieces_of_two_windows) << "as many again";
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_number_of_short_pieces_that_leave) {
  message_list batch;
  for (int i = 0; i < 1000; ++i) batch.push_back(make_message(0));
  end.submit(rank_id(1), batch);
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"),
            2 * mpi_endpoint::window_slots * mpi_endpoint::short_pieces_in_a_slot);
  EXPECT_EQ(mpi.count("matched"), 2U);
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_bodies_that_leave) {
  submit(10, long_payload);
  EXPECT_EQ(mpi.count("body"), mpi_endpoint::bodies_max);
  complete_all("body");
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("body"), mpi_endpoint::bodies_max);
}

TEST_F(end_over_script, whoever_submits_behind_bodies_that_have_left_starts_the_next_ones) {
  submit(10, long_payload);
  complete_all("body");
  submit(1, long_payload);
  EXPECT_EQ(mpi.count("body"), mpi_endpoint::bodies_max) << "nobody has polled";
}

TEST_F(end_over_script, a_body_that_whoever_submits_finds_complete_is_delivered_by_the_next_poll) {
  arrive(0, long_payload);
  EXPECT_EQ(polled(), sequences{});
  submit(1, long_payload);
  complete_body(0);
  submit(1, long_payload);
  EXPECT_TRUE(mpi.complete.empty());
  EXPECT_EQ(polled(), sequences{0});
}

TEST_F(end_over_script, a_look_begins_few_bodies_and_the_next_ones_wait_for_those_that_are_under_way) {
  constexpr std::uint32_t payload = 400 * 1024;  // more than a look begins; three are more than are under way
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
  complete_body(1);
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("receive"), 4U);
  for (const std::size_t each : {0, 2, 3}) complete_body(each);
  EXPECT_EQ(polled(), (sequences{0, 1, 2, 3}));
}

TEST_F(end_over_script, bodies_of_a_lost_peer_are_not_begun) {
  for (std::uint32_t i = 0; i < 4; ++i) arrive(i, 600 * 1024);
  message_list arrived;
  for (int look = 0; look < 5; ++look) end.poll(arrived, 100);
  EXPECT_EQ(mpi.count("receive"), 2U);
  mpi.arriving.push_back({0, 1, std::vector<std::byte>(7)});
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(end.failed());
  complete_body(0);
  EXPECT_EQ(polled(), sequences{0});
  EXPECT_EQ(mpi.count("receive"), 2U);
}

TEST_F(end_over_script, a_full_link_leaves_the_rest_to_its_caller_and_holds_up_no_other_channel) {
  const std::size_t taken = submit(10000, 100);
  EXPECT_LT(taken, 10000U);
  EXPECT_LT(taken * (header_bytes + 100), how.output_bytes_max + 3 * mpi_endpoint::window_slots * shape.bytes);
  EXPECT_EQ(submit(10, 100), 0U);
  mpi.calls.clear();
  EXPECT_EQ(submit(1, 8, channel::system), 1U);
  EXPECT_EQ(mpi.count("send"), 1U) << "it leaves at once";
}

TEST_F(end_over_script, pieces_that_mpi_keeps_for_a_while_are_kept_until_it_has_sent_them) {
  mpi.pieces_leave_at_once = false;
  submit(3, 8);
  ASSERT_EQ(mpi.calls.size(), 3U);
  message_list others;  // take the place of whatever has been released too early
  for (std::uint32_t i = 0; i < 10; ++i) others.push_back(numbered(99, 8));
  for (std::uint32_t i = 0; i < 3; ++i) {
    message_header header;
    std::memcpy(&header, mpi.calls[i].bytes.data(), header_bytes);
    EXPECT_EQ(header.sequence, i);
  }
  complete_all("send");
  EXPECT_EQ(polled(), sequences{});
}

TEST_F(end_over_script, what_arrives_while_somebody_waits_ends_the_wait_and_keeps_its_place) {
  arrive(0, 8);
  arrive(1, 8);
  end.wait(std::chrono::hours(1));
  EXPECT_EQ(polled(), (sequences{0, 1}));
}

TEST_F(end_over_script, who_waits_has_looked_at_every_channel_before_each_sleep) {
  how.pause_max = std::chrono::hours(1);  // the longer it has waited, the longer it sleeps
  mpi_endpoint sleepy{own, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(), how};
  arrive(0, 8);
  mpi.looks_elsewhere = 100;
  const auto begin = std::chrono::steady_clock::now();
  sleepy.wait(std::chrono::seconds(100));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50))
      << "it sleeps beside a message that is there";
  message_list arrived;
  sleepy.poll(arrived, 1);
  EXPECT_EQ(arrived.size(), 1U);
}

TEST_F(end_over_script, looks_that_follow_each_other_fast_leave_quiet_channels_out_for_a_while) {
  const auto looks_everywhere = [&](std::chrono::nanoseconds apart) {
    how.quiet_lanes_apart = apart;
    mpi_endpoint eager{own, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(), how};
    mpi.looks_everywhere = 0;
    message_list arrived;
    for (int look = 0; look < 100; ++look) eager.poll(arrived, 1);
    return mpi.looks_everywhere;
  };
  EXPECT_EQ(looks_everywhere(std::chrono::hours(1)), 1U) << "at the first";
  EXPECT_EQ(looks_everywhere(std::chrono::nanoseconds(0)), 100U);
}

TEST_F(end_over_script, who_waits_for_long_looks_seldom) {
  end.wait(std::chrono::milliseconds(200));
  EXPECT_LT(mpi.looks, 1000) << "it keeps the core from those that have work";
}

TEST_F(end_over_script, who_is_woken_by_timers_looks_seldom_all_the_same) {
  for (int timer = 0; timer < 200; ++timer) end.wait(std::chrono::milliseconds(1));
  EXPECT_LT(mpi.looks, 1500) << "nothing has moved since the first one";
}

TEST_F(end_over_script, who_has_waited_for_long_looks_soon_again_after_something_has_moved) {
  how.pause_max = std::chrono::hours(1);
  mpi_endpoint sleepy{own, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(), how};
  const auto looks_in_a_wait = [&] {
    mpi.looks = 0;
    sleepy.wait(std::chrono::milliseconds(5));
    return mpi.looks;
  };
  for (const bool arrives : {true, false}) {
    sleepy.wait(std::chrono::milliseconds(200));
    EXPECT_LE(looks_in_a_wait(), 2U) << "a pause of a part of 200 ms is longer than that";
    // Other programs may take the core for all of the wait, but not each time.
    std::uint32_t most = 0;
    for (int attempt = 0; attempt < 1000 && most <= 2; ++attempt) {
      message_list moved;
      if (arrives) {
        arrive(0, 8);
        sleepy.poll(moved, 1);
      } else {
        moved.push_back(numbered(0, 8));
        sleepy.submit(rank_id(1), moved);
        mpi.calls.clear();
      }
      most = looks_in_a_wait();
    }
    EXPECT_GT(most, 2U) << (arrives ? "a message has come" : "a message has left, and an answer may come");
    mpi.complete.clear();
  }
}

TEST_F(end_over_script, one_thread_waits_beside_another_that_submits_and_polls) {
  constexpr std::uint32_t messages = 3000;
  mpi.echoes = true;
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    while (!over) end.wait(std::chrono::milliseconds(1));
  });
  message_list arrived;
  for (std::uint32_t i = 0; i < messages; ++i) {
    message_list batch;
    batch.push_back(numbered(i, 8));
    end.submit(rank_id(1), batch);
    EXPECT_TRUE(batch.empty());
    EXPECT_FALSE(end.failed());
    end.poll(arrived, 1);
    if (i % 64 == 0) end.wake();
  }
  while (arrived.size() < messages) end.poll(arrived, 64);
  over = true;
  end.wake();
  waiting.join();
  for (std::uint32_t i = 0; i < messages; ++i) ASSERT_EQ(arrived.pop_front()->header.sequence, i);
}

}  // namespace
}  // namespace nacre::transport::mpi
