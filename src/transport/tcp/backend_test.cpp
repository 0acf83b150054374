// SPDX-License-Identifier: Apache-2.0
// Messages over sockets: fairness among peers and channels, backpressure, and bytes under way.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "transport/tcp/fabric.hpp"

namespace nacre::transport::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds patience{30};

/// Ranks that one thread drives.
class interleaved_ranks {
 public:
  explicit interleaved_ranks(std::uint32_t ranks, const settings& settings = {})
      : fabric_(ranks, settings), ends_(ranks) {
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([this, rank] { ends_[rank] = fabric_.open(rank_id(rank)); });
    }
    for (std::thread& each : threads) each.join();
  }

  [[nodiscard]] endpoint& at(std::uint32_t rank) { return *ends_[rank]; }
  void send(std::uint32_t source, std::uint32_t target, channel channel = channel::application) {
    message_list batch;
    batch.push_back(make_message(8));
    batch.front()->header.channel = channel;
    batch.front()->header.source = source;
    at(source).submit(rank_id(target), batch);
  }
  /// Polls, without a sleep, until a message is there.
  void take(std::uint32_t at_rank) {
    message_list arrived;
    const auto deadline = steady_clock::now() + patience;
    while (arrived.empty() && steady_clock::now() < deadline) at(at_rank).poll(arrived, 10);
    EXPECT_EQ(arrived.size(), 1U);
  }

 private:
  local_fabric fabric_;
  std::vector<std::unique_ptr<endpoint>> ends_;
};

TEST(tcp, a_rank_that_talks_to_one_peer_for_long_still_hears_it_and_the_others_asleep_and_awake) {
  interleaved_ranks job(3);
  const auto talk_for_long = [&] {
    for (int i = 0; i < 100; ++i) {
      job.send(1, 0);
      job.take(0);
    }
  };
  const auto start = steady_clock::now();
  for (const std::uint32_t sender : {1U, 2U, 1U}) {
    talk_for_long();
    job.send(sender, 0);
    job.at(0).wait(patience);
    job.take(0);
    talk_for_long();
    job.send(sender, 0);
    job.take(0);
  }
  talk_for_long();
  message_list nothing;
  for (int i = 0; i < 200; ++i) job.at(0).poll(nothing, 10);  // the peer is silent for so long
  job.send(1, 0);
  job.take(0);
  EXPECT_LT(steady_clock::now() - start, patience);
}

/// The number of messages of a flood that arrive before a system message sent after it.
std::size_t received_before_a_system_message() {
  interleaved_ranks job(2);
  for (int i = 0; i < 100; ++i) {  // the application stream becomes the warm one
    job.send(0, 1);
    job.take(1);
  }
  message_list flood;
  for (int i = 0; i < 64; ++i) flood.push_back(make_message(64 * 1024));
  job.at(0).submit(rank_id(1), flood);
  job.send(0, 1, channel::system);
  message_list arrived;
  std::size_t previous = 0;
  bool seen = false;
  for (const auto deadline = steady_clock::now() + patience; !seen && steady_clock::now() < deadline;) {
    job.at(1).poll(arrived, 1000);
    while (const message_ptr m = arrived.pop_front()) {
      seen |= m->header.channel == channel::system;
      previous += seen ? 0 : 1;
    }
  }
  EXPECT_TRUE(seen);
  return previous;
}

TEST(tcp, a_system_message_passes_a_full_application_stream_while_that_is_being_read) {
  std::size_t least = received_before_a_system_message();
  // A busy kernel may delay the bytes of one socket for a while, but not each time.
  for (int more = 0; more < 4 && least > 8; ++more) least = std::min(least, received_before_a_system_message());
  EXPECT_LE(least, 8U) << "a round takes 256 KiB";
}

TEST(tcp, bytes_are_under_way_until_the_peer_s_host_has_them_all) {
  interleaved_ranks job(2);
  message_list arrived;
  const auto settles = [&] {
    const auto deadline = steady_clock::now() + patience;
    static_cast<void>(job.at(0).under_way());  // the next call is about the bytes sent so far
    while (job.at(0).under_way()) {
      job.at(0).poll(arrived, 10);
      if (steady_clock::now() > deadline) return false;
    }
    return true;
  };
  EXPECT_TRUE(settles()) << "nothing has been sent";
  std::size_t sent = 0;
  bool held_up = false;  // by the peer, which reads nothing: its host takes no more, but the own socket does
  while (!held_up && !job.at(0).unsent()) {
    message_list batch;
    batch.push_back(make_message(16 * 1024));
    job.at(0).submit(rank_id(1), batch);
    ++sent;
    const auto deadline = steady_clock::now() + milliseconds(50);  // an acknowledgement would come sooner
    static_cast<void>(job.at(0).under_way());
    do held_up = job.at(0).under_way();
    while (held_up && steady_clock::now() < deadline);
    held_up = held_up && !job.at(0).unsent();
  }
  EXPECT_TRUE(held_up) << sent;
  const auto deadline = steady_clock::now() + patience;
  for (message_list got; sent > 0 && steady_clock::now() < deadline; got.clear()) {
    job.at(1).poll(got, 1000);
    sent -= got.size();
    job.at(0).poll(arrived, 10);
  }
  EXPECT_EQ(sent, 0U);
  EXPECT_TRUE(settles());
}

TEST(tcp, ranks_with_fewer_sockets_declare_no_separate_channels_and_carry_all_three) {
  for (const std::uint32_t connections : {1U, 2U, 3U}) {
    interleaved_ranks job(2, {.join = {.connections = connections}});
    EXPECT_EQ(job.at(0).declared().separate_channels, connections == 3);
    for (const channel channel : {channel::bulk, channel::system, channel::application}) {
      job.send(0, 1, channel);
      job.take(1);
    }
  }
}

TEST(tcp, submit_leaves_what_exceeds_the_bound_of_the_output) {
  constexpr std::size_t output_bytes_max = 1u << 20;
  local_fabric fabric(2, {.output_bytes_max = output_bytes_max});
  std::unique_ptr<endpoint> ends[2];
  std::thread other([&] { ends[1] = fabric.open(rank_id(1)); });
  ends[0] = fabric.open(rank_id(0));
  other.join();
  constexpr std::size_t message_bytes = 1u << 20;
  message_list batch;
  for (int i = 0; i < 64; ++i) batch.push_back(make_message(message_bytes));
  ends[0]->submit(rank_id(1), batch);
  const std::size_t left = batch.size();
  EXPECT_GT(left, 16U) << "the kernel holds some, the send_queue two at most";
  EXPECT_TRUE(ends[0]->unsent());
  ends[0]->submit(rank_id(1), batch);
  EXPECT_EQ(batch.size(), left);
}

TEST(tcp, a_rank_that_never_comes_is_named_when_the_time_is_over) {
  local_fabric fabric(3, {.join = {.connect_timeout = milliseconds(50)}}, [](std::string_view) {});
  try {
    static_cast<void>(fabric.open(rank_id(0)));
    FAIL() << "it cannot be complete";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 waited in vain for rank 1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace nacre::transport::tcp
