// SPDX-License-Identifier: Apache-2.0
// Which channels a poll of a scripted MPI covers, and how often a waiting thread polls.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "transport/mpi/endpoint_test_kit.hpp"

namespace nacre::transport::mpi {
namespace {

TEST_F(end_over_script, a_message_that_arrives_during_a_wait_ends_it_and_keeps_its_place) {
  arrive(0, 8);
  arrive(1, 8);
  end.wait(std::chrono::hours(1));
  EXPECT_EQ(polled(), (sequences{0, 1}));
}

TEST_F(end_over_script, a_waiting_thread_polls_every_channel_before_each_sleep) {
  end_settings.pause_max = std::chrono::hours(1);  // the longer it has waited, the longer it sleeps
  end_settings.idle_poll_interval = std::chrono::hours(1);
  mpi_endpoint sleepy{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                      end_settings};
  message_list arrived;
  sleepy.poll(arrived, 1);
  for (const channel channel : {channel::bulk, channel::system, channel::application}) {
    arrive(0, 8, channel);
    const auto begin = std::chrono::steady_clock::now();
    sleepy.wait(std::chrono::seconds(100));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50)) << "it sleeps beside a message";
    sleepy.poll(arrived, 1);
    EXPECT_EQ(arrived.size(), 1U);
    arrived.clear();
  }
}

TEST_F(end_over_script, looks_that_follow_each_other_fast_leave_quiet_channels_out_for_a_while) {
  using looks = std::array<std::uint32_t, channels_per_peer>;
  const auto looks_of_100_polls = [&](std::chrono::nanoseconds apart) {
    end_settings.idle_poll_interval = apart;
    mpi_endpoint eager{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                       end_settings};
    message_list arrived;
    arrive(0, 8);
    eager.poll(arrived, 1);
    EXPECT_EQ(arrived.size(), 1U) << "the first looks everywhere";
    mpi.looks = {};
    for (int look = 0; look < 100; ++look) eager.poll(arrived, 1);
    return mpi.looks;
  };
  EXPECT_EQ(looks_of_100_polls(std::chrono::hours(1)), (looks{0, 100, 0}));
  EXPECT_EQ(looks_of_100_polls(std::chrono::nanoseconds(0)), (looks{100, 100, 100}));
}

TEST_F(end_over_script, no_channel_is_busier_than_the_others_after_a_pause) {
  end_settings.idle_poll_interval = std::chrono::hours(1);
  mpi_endpoint eager{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                     end_settings};
  message_list arrived;
  for (int look = 0; look < 2000; ++look) eager.poll(arrived, 1);
  arrive(0, 8, channel::bulk);
  eager.poll(arrived, 1);
  EXPECT_EQ(arrived.size(), 1U);
}

TEST_F(end_over_script, a_stream_on_a_channel_does_not_hold_up_the_others) {
  end_settings.idle_poll_interval = std::chrono::nanoseconds(0);
  mpi_endpoint end_of_stream{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                             end_settings};
  for (const channel busy : {channel::system, channel::application, channel::bulk}) {
    for (std::uint32_t i = 0; i < 1000; ++i) arrive(1, 8, busy);
    for (const channel traffic_channel : {channel::system, channel::application, channel::bulk})
      arrive(2, 8, traffic_channel);
    message_list arrived;
    end_of_stream.poll(arrived, 1);
    std::uint32_t others = 0;
    while (const message_ptr m = arrived.pop_front()) others += m->header.channel != busy ? 1 : 0;
    EXPECT_EQ(others, 2U);
    while (!mpi.arriving.empty()) end_of_stream.poll(arrived, 64);
  }
}

TEST_F(end_over_script, a_thread_that_waits_long_polls_seldom) {
  end.wait(std::chrono::milliseconds(200));
  EXPECT_LT(mpi.looks[0], 1000U) << "it keeps the core from those that have work";
}

TEST_F(end_over_script, a_thread_that_timers_wake_polls_seldom_all_the_same) {
  for (int timer = 0; timer < 200; ++timer) end.wait(std::chrono::milliseconds(1));
  EXPECT_LT(mpi.looks[0], 1500U) << "nothing has moved since the first one";
}

TEST_F(end_over_script, a_thread_that_has_waited_long_polls_soon_after_progress) {
  end_settings.pause_max = std::chrono::hours(1);
  mpi_endpoint sleepy{local_rank, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(),
                      end_settings};
  const auto looks_in_a_wait = [&] {
    mpi.looks = {};
    sleepy.wait(std::chrono::milliseconds(5));
    return mpi.looks[0];
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
  std::atomic<bool> is_over{false};
  std::thread waiting([&] {
    while (!is_over) end.wait(std::chrono::milliseconds(1));
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
  is_over = true;
  end.wake();
  waiting.join();
  for (std::uint32_t i = 0; i < messages; ++i) ASSERT_EQ(arrived.pop_front()->header.sequence, i);
}

}  // namespace
}  // namespace nacre::transport::mpi
