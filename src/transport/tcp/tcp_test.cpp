// SPDX-License-Identifier: Apache-2.0
// A job over sockets in a bad neighbourhood: strangers change nothing, and a member that misbehaves is named.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/net/call.hpp"
#include "transport/net/wait.hpp"
#include "transport/tcp/fabric.hpp"
#include "transport/tcp/frame.hpp"

namespace nacre::transport::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds patience{30};

peer_identity identity_of(const local_fabric& job, std::uint32_t rank) {
  peer_identity identity;
  identity.rank = rank_id(rank);
  identity.size = job.size();
  identity.connections = channel_count;
  return identity;
}

/// Calls rank 0 with the secret.
expected<net::guest, refusal> call_rank_zero(const local_fabric& job, peer_identity who) {
  return net::call(*net::address::parse(job.address_of(rank_id(0))),
                   handshake(handshake_role::initiator, job.secret(), std::move(who)), steady_clock::now() + patience);
}

/// All three connections of a rank 1 to rank 0; empty when one was refused.
std::vector<net::unique_fd> connect_as_rank_one(const local_fabric& job) {
  std::vector<net::unique_fd> sockets;
  peer_identity who = identity_of(job, 1);
  for (; who.connection < channel_count; ++who.connection) {
    auto outcome = call_rank_zero(job, who);
    if (!outcome) return {};
    sockets.push_back(std::move(outcome->socket));
  }
  return sockets;
}

/// A job of two ranks, both open, and the lines that they have logged.
class pair_of_ranks {
 public:
  pair_of_ranks() : fabric_(2, {}, [this](std::string_view line) { log(line); }) {
    std::thread other([this] { ends_[1] = fabric_.open(rank_id(1)); });
    ends_[0] = fabric_.open(rank_id(0));
    other.join();
  }

  [[nodiscard]] const local_fabric& net() const noexcept { return fabric_; }
  [[nodiscard]] endpoint& at(std::size_t rank) { return *ends_[rank]; }

  [[nodiscard]] std::vector<std::string> lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

  /// A message goes from 0 to 1 and back.
  void exchange() {
    message_list batch;
    batch.push_back(make_message(100));
    at(0).submit(rank_id(1), batch);
    message_list arrived;
    const auto deadline = steady_clock::now() + patience;
    for (const std::size_t rank : {1UL, 0UL}) {
      while (arrived.empty() && steady_clock::now() < deadline) {
        if (!at(rank).poll(arrived, 1)) at(rank).wait(milliseconds(1));
        EXPECT_FALSE(at(rank).failed());
      }
      ASSERT_EQ(arrived.size(), 1U);
      arrived.front()->header.source = 1;
      if (rank == 1) at(1).submit(rank_id(0), arrived);
    }
  }

  /// Exchanges messages until `count` lines are there.
  void exchange_until_lines(std::size_t count) {
    const auto deadline = steady_clock::now() + patience;
    while (lines().size() < count && steady_clock::now() < deadline && !::testing::Test::HasFailure()) exchange();
    EXPECT_EQ(lines().size(), count);
  }

 private:
  void log(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(line);
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;  // under mutex_
  local_fabric fabric_;
  std::unique_ptr<endpoint> ends_[2];
};

TEST(tcp, a_stranger_that_sends_garbage_during_the_job_changes_nothing_and_is_logged_once) {
  pair_of_ranks job;
  job.exchange();
  const net::unique_fd stranger = net::start_connect(*net::address::parse(job.net().address_of(rank_id(0))));
  net::wait_until(stranger.get(), true, steady_clock::now() + patience);
  const std::string garbage(5000, '\xff');
  EXPECT_GT(net::send_some(stranger.get(), garbage.data(), garbage.size()), 0);
  job.exchange_until_lines(1);
  EXPECT_EQ(job.lines()[0].find("nacre: rank 0 refused a peer at 127.0.0.1:"), 0U) << job.lines()[0];
}

TEST(tcp, a_stranger_without_the_secret_is_refused_while_the_job_goes_on) {
  pair_of_ranks job;
  std::thread stranger([&] {
    const auto outcome =
        net::call(*net::address::parse(job.net().address_of(rank_id(1))),
                  handshake(handshake_role::initiator, job_secret::generate(), identity_of(job.net(), 0)),
                  steady_clock::now() + patience);
    EXPECT_FALSE(outcome);
  });
  job.exchange_until_lines(1);
  stranger.join();
  EXPECT_NE(job.lines()[0].find("secret"), std::string::npos) << job.lines()[0];
}

TEST(tcp, a_second_claim_to_a_rank_that_is_connected_is_refused) {
  pair_of_ranks job;
  std::thread twin([&] { static_cast<void>(call_rank_zero(job.net(), identity_of(job.net(), 1))); });
  job.exchange_until_lines(1);
  twin.join();
  EXPECT_NE(job.lines()[0].find("rank 1 is connected already"), std::string::npos) << job.lines()[0];
}

TEST(tcp, a_crowd_of_silent_connections_does_not_slow_the_job_down) {
  pair_of_ranks job;
  std::vector<net::unique_fd> crowd;
  for (int i = 0; i < 200; ++i) {
    crowd.push_back(net::start_connect(*net::address::parse(job.net().address_of(rank_id(0)))));
    if (i % 10 == 0) job.exchange();
  }
  for (int i = 0; i < 100; ++i) job.exchange();
}

/// Ranks that one thread drives.
class ranks_in_turn {
 public:
  explicit ranks_in_turn(std::uint32_t ranks, const settings& how = {}) : fabric_(ranks, how), ends_(ranks) {
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([this, rank] { ends_[rank] = fabric_.open(rank_id(rank)); });
    }
    for (std::thread& each : threads) each.join();
  }

  [[nodiscard]] endpoint& at(std::uint32_t rank) { return *ends_[rank]; }
  void send(std::uint32_t from, std::uint32_t to, channel on = channel::application) {
    message_list batch;
    batch.push_back(make_message(8));
    batch.front()->header.channel = on;
    batch.front()->header.source = from;
    at(from).submit(rank_id(to), batch);
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
  ranks_in_turn job(3);
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
  for (int i = 0; i < 200; ++i) job.at(0).poll(nothing, 10);  // the peer falls silent
  job.send(1, 0);
  job.take(0);
  EXPECT_LT(steady_clock::now() - start, patience);
}

TEST(tcp, a_system_message_passes_a_full_application_stream_while_that_is_being_read) {
  ranks_in_turn job(2);
  for (int i = 0; i < 100; ++i) {  // the receiver gets used to the application
    job.send(0, 1);
    job.take(1);
  }
  message_list flood;
  for (int i = 0; i < 64; ++i) flood.push_back(make_message(64 * 1024));
  job.at(0).submit(rank_id(1), flood);
  job.send(0, 1, channel::system);
  message_list arrived;
  std::size_t before = 0;
  bool seen = false;
  for (const auto deadline = steady_clock::now() + patience; !seen && steady_clock::now() < deadline;) {
    job.at(1).poll(arrived, 1000);
    while (const message_ptr m = arrived.pop_front()) {
      seen |= m->header.channel == channel::system;
      before += seen ? 0 : 1;
    }
  }
  EXPECT_TRUE(seen);
  EXPECT_LE(before, 8U) << "a turn takes 256 KiB";
}

/// Rank 0 of two, whose peer is the test itself, with nothing but three sockets.
class rank_with_a_forger {
 public:
  rank_with_a_forger() : fabric_(2, {}) {
    std::thread forger([this] { forger_ = connect_as_rank_one(fabric_); });
    own_ = fabric_.open(rank_id(0));
    forger.join();
    EXPECT_EQ(forger_.size(), channel_count);
  }

  void send(std::span<const std::byte> bytes, channel by = channel::application) {
    while (!bytes.empty()) {
      const std::ptrdiff_t sent = net::send_some(socket_of(by).get(), bytes.data(), bytes.size());
      ASSERT_GE(sent, 0);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  void hang_up() { forger_.clear(); }
  void hang_up(channel by) { socket_of(by).reset(); }

  [[nodiscard]] std::optional<failure> poll_for_failure(int polls) {
    for (; polls > 0; --polls) {
      own_->poll(arrived, 10);
      if (auto seen = own_->failed()) return seen;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<failure> wait_for_failure() {
    const auto deadline = steady_clock::now() + patience;
    while (steady_clock::now() < deadline) {
      own_->poll(arrived, 10);
      if (auto seen = own_->failed()) return seen;
      own_->wait(milliseconds(1));
    }
    return std::nullopt;
  }

  message_list arrived;

 private:
  net::unique_fd& socket_of(channel by) { return forger_[static_cast<std::size_t>(by)]; }

  local_fabric fabric_;
  std::vector<net::unique_fd> forger_;  // by channel
  std::unique_ptr<endpoint> own_;
};

std::vector<std::byte> frame_with(std::uint32_t source, std::uint32_t payload_bytes) {
  const message_ptr m = make_message(payload_bytes);
  m->header.source = source;
  std::memset(m->body(), 1, payload_bytes);
  const auto frame = frame_of(*m);
  return {frame.begin(), frame.end()};
}

TEST(tcp, a_member_that_forges_a_header_is_a_failure_that_names_it_and_the_reason) {
  rank_with_a_forger job;
  job.send(frame_with(1, 10));
  job.send(frame_with(77, 0));
  const auto seen = job.wait_for_failure();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent a message from a rank that does not exist");
  EXPECT_EQ(job.arrived.size(), 1U) << "what came before the forgery is delivered";
}

TEST(tcp, a_member_that_ends_in_the_middle_of_a_message_is_a_failure_that_says_so) {
  rank_with_a_forger job;
  const auto frame = frame_with(1, 1000);
  job.send(std::span(frame).first(500));
  job.hang_up(channel::application);
  const auto seen = job.wait_for_failure();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 closed its connection in the middle of a message");
}

TEST(tcp, a_member_that_hangs_up_without_a_goodbye_is_a_failure_and_with_one_it_is_none) {
  {
    rank_with_a_forger job;
    job.hang_up();
    const auto seen = job.wait_for_failure();
    ASSERT_TRUE(seen);
    EXPECT_EQ(describe(*seen), "rank 1 closed its connection without a goodbye");
  }
  rank_with_a_forger job;
  job.send(goodbye_frame());
  job.send(frame_with(1, 0));  // only so that there is something to wait for
  const auto seen = job.wait_for_failure();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent something after its goodbye");
}

TEST(tcp, a_member_that_uses_the_connection_of_another_channel_is_a_failure_that_says_so) {
  rank_with_a_forger job;
  job.send(frame_with(1, 10), channel::system);
  const auto seen = job.wait_for_failure();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent a message on the connection of another channel");
  EXPECT_TRUE(job.arrived.empty());
}

TEST(tcp, the_end_of_any_one_connection_without_a_goodbye_is_one_failure_of_its_peer) {
  for (const channel by : {channel::system, channel::application, channel::bulk}) {
    rank_with_a_forger job;
    for (const channel other : {channel::system, channel::application, channel::bulk}) {
      if (other != by) job.send(goodbye_frame(), other);
    }
    job.hang_up(by);
    const auto seen = job.wait_for_failure();
    ASSERT_TRUE(seen);
    EXPECT_EQ(describe(*seen), "rank 1 closed its connection without a goodbye");
    job.hang_up();
    EXPECT_FALSE(job.poll_for_failure(100)) << "it is told once";
  }
}

/// What rank 0 logs while rank 1 makes its three connections after `liar` has called.
std::vector<std::string> lines_beside(const peer_identity& liar, std::uint8_t connections_before) {
  std::vector<std::string> lines;  // rank 0's thread writes it until it has ended
  local_fabric fabric(2, {}, [&](std::string_view line) { lines.emplace_back(line); });
  std::unique_ptr<endpoint> own;
  std::thread opener([&] { own = fabric.open(rank_id(0)); });
  std::vector<net::unique_fd> honest;
  for (peer_identity who = identity_of(fabric, 1); who.connection < channel_count; ++who.connection) {
    if (who.connection == connections_before) static_cast<void>(call_rank_zero(fabric, liar));
    auto outcome = call_rank_zero(fabric, who);
    EXPECT_TRUE(outcome);
    if (outcome) honest.push_back(std::move(outcome->socket));
  }
  opener.join();
  return lines;
}

peer_identity rank_one_with(std::uint8_t connection, std::uint8_t connections) {
  peer_identity who;
  who.rank = rank_id(1);
  who.size = 2;
  who.connection = connection;
  who.connections = connections;
  return who;
}

TEST(tcp, a_member_that_lies_about_its_channel_or_its_identity_is_refused_in_words_and_the_honest_one_gets_in) {
  peer_identity other = rank_one_with(1, 3);
  other.address = "10.0.0.9:1";
  const struct {
    peer_identity liar;
    std::uint8_t before;
    std::string words;
  } cases[]{
      {rank_one_with(3, 3), 0, "it says this is connection 3 of 3"},
      {rank_one_with(0, 1), 0, "it makes 1 connections with each rank, here 3; start every rank with the same options"},
      {rank_one_with(2, 3), 1, "nobody waits for connection 2 of rank 1"},
      {rank_one_with(0, 3), 1, "nobody waits for connection 0 of rank 1"},
      {other, 1, "its connection 1 gives another identity of rank 1 than its first one"},
  };
  for (const auto& each : cases) {
    const std::vector<std::string> lines = lines_beside(each.liar, each.before);
    ASSERT_EQ(lines.size(), 1U) << each.words;
    EXPECT_NE(lines[0].find(": " + each.words), std::string::npos) << lines[0];
  }
}

TEST(tcp, ranks_with_fewer_sockets_declare_no_separate_channels_and_carry_all_three) {
  for (const std::uint32_t connections : {1U, 2U, 3U}) {
    ranks_in_turn job(2, {.way = {.connections = connections}});
    EXPECT_EQ(job.at(0).declared().separate_channels, connections == 3);
    for (const channel on : {channel::bulk, channel::system, channel::application}) {
      job.send(0, 1, on);
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
  EXPECT_GT(left, 16U) << "the kernel holds some, the outbox two at most";
  EXPECT_TRUE(ends[0]->unsent());
  ends[0]->submit(rank_id(1), batch);
  EXPECT_EQ(batch.size(), left);
}

TEST(tcp, a_rank_that_never_comes_is_named_when_the_time_is_over) {
  local_fabric fabric(3, {.way = {.connect_timeout = milliseconds(50)}}, [](std::string_view) {});
  try {
    static_cast<void>(fabric.open(rank_id(0)));
    FAIL() << "it cannot be complete";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 waited in vain for rank 1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace nacre::transport::tcp
