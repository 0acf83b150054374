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
  return identity;
}

/// Calls rank 0 as if it were `rank`.
expected<net::guest, refusal> call_rank_zero(const local_fabric& job, std::uint32_t rank) {
  return net::call(*net::address::parse(job.address_of(rank_id(0))),
                   handshake(handshake_role::initiator, job.secret(), identity_of(job, rank)),
                   steady_clock::now() + patience);
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
  std::thread twin([&] { static_cast<void>(call_rank_zero(job.net(), 1)); });
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
  explicit ranks_in_turn(std::uint32_t ranks) : fabric_(ranks, {}), ends_(ranks) {
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([this, rank] { ends_[rank] = fabric_.open(rank_id(rank)); });
    }
    for (std::thread& each : threads) each.join();
  }

  [[nodiscard]] endpoint& at(std::uint32_t rank) { return *ends_[rank]; }
  void send(std::uint32_t from, std::uint32_t to) {
    message_list batch;
    batch.push_back(make_message(8));
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

/// Rank 0 of two, whose peer is the test itself, with nothing but a socket.
class rank_with_a_forger {
 public:
  rank_with_a_forger() : fabric_(2, {}) {
    std::thread forger([this] {
      auto outcome = call_rank_zero(fabric_, 1);
      ASSERT_TRUE(outcome);
      forger_ = std::move(outcome->socket);
    });
    own_ = fabric_.open(rank_id(0));
    forger.join();
  }

  void send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::ptrdiff_t sent = net::send_some(forger_.get(), bytes.data(), bytes.size());
      ASSERT_GE(sent, 0);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  void hang_up() { forger_.reset(); }

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
  local_fabric fabric_;
  net::unique_fd forger_;
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
  job.hang_up();
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
  local_fabric fabric(3, {.connect_timeout = milliseconds(50)}, [](std::string_view) {});
  try {
    static_cast<void>(fabric.open(rank_id(0)));
    FAIL() << "it cannot be complete";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 waited in vain for rank 1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace nacre::transport::tcp
