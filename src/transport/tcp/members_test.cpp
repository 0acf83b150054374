// SPDX-License-Identifier: Apache-2.0
// A rank of a job over sockets that violates the protocol is named.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "transport/tcp/frame_reader.hpp"
#include "transport/tcp/member_test_kit.hpp"

namespace nacre::transport::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Rank 0 of two. The test plays the peer, with three bare sockets.
class rank_with_a_forger {
 public:
  rank_with_a_forger() : fabric_(2, {}) {
    std::thread forger([this] { forger_ = connect_as_rank_one(fabric_); });
    endpoint_ = fabric_.open(rank_id(0));
    forger.join();
    EXPECT_EQ(forger_.size(), channel_count);
  }

  void send(std::span<const std::byte> bytes, channel channel = channel::application) {
    while (!bytes.empty()) {
      const std::ptrdiff_t sent = net::send_some(socket_of(channel).get(), bytes.data(), bytes.size());
      ASSERT_GE(sent, 0);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  void hang_up() { forger_.clear(); }
  void hang_up(channel channel) { socket_of(channel).reset(); }

  [[nodiscard]] std::optional<failure> poll_for_failure(int polls) {
    for (; polls > 0; --polls) {
      endpoint_->poll(arrived, 10);
      if (auto seen = endpoint_->failed()) return seen;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<failure> wait_for_failure() {
    const auto deadline = steady_clock::now() + member_patience;
    while (steady_clock::now() < deadline) {
      endpoint_->poll(arrived, 10);
      if (auto seen = endpoint_->failed()) return seen;
      endpoint_->wait(milliseconds(1));
    }
    return std::nullopt;
  }

  message_list arrived;

 private:
  net::unique_fd& socket_of(channel channel) { return forger_[static_cast<std::size_t>(channel)]; }

  local_fabric fabric_;
  std::vector<net::unique_fd> forger_;  // by channel
  std::unique_ptr<endpoint> endpoint_;
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

TEST(tcp, a_member_that_hangs_up_without_a_shutdown_is_a_failure_and_with_one_it_is_none) {
  {
    rank_with_a_forger job;
    job.hang_up();
    const auto seen = job.wait_for_failure();
    ASSERT_TRUE(seen);
    EXPECT_EQ(describe(*seen), "rank 1 closed its connection without a shutdown");
  }
  rank_with_a_forger job;
  job.send(shutdown_frame());
  job.send(frame_with(1, 0));  // only to have something to wait for
  const auto seen = job.wait_for_failure();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent something after its shutdown");
}

TEST(tcp, a_member_that_uses_the_connection_of_another_channel_is_a_failure_that_says_so) {
  rank_with_a_forger job;
  job.send(frame_with(1, 10), channel::system);
  const auto seen = job.wait_for_failure();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent a message on the connection of another channel");
  EXPECT_TRUE(job.arrived.empty());
}

TEST(tcp, the_end_of_any_one_connection_without_a_shutdown_is_one_failure_of_its_peer) {
  for (const channel actor : {channel::system, channel::application, channel::bulk}) {
    rank_with_a_forger job;
    for (const channel other : {channel::system, channel::application, channel::bulk}) {
      if (other != actor) job.send(shutdown_frame(), other);
    }
    job.hang_up(actor);
    const auto seen = job.wait_for_failure();
    ASSERT_TRUE(seen);
    EXPECT_EQ(describe(*seen), "rank 1 closed its connection without a shutdown");
    job.hang_up();
    EXPECT_FALSE(job.poll_for_failure(100)) << "it is told once";
  }
}

/// The lines that rank 0 logs while rank 1 makes its three connections, after a connection as `liar`.
std::vector<std::string> lines_beside(const peer_identity& liar, std::uint8_t connections_before) {
  std::vector<std::string> lines;  // written by rank 0's thread until it has ended
  local_fabric fabric(2, {}, [&](std::string_view line) { lines.emplace_back(line); });
  std::unique_ptr<endpoint> local_end;
  std::thread opener([&] { local_end = fabric.open(rank_id(0)); });
  std::vector<net::unique_fd> honest;
  for (peer_identity party = identity_of(fabric, 1); party.connection < channel_count; ++party.connection) {
    if (party.connection == connections_before) static_cast<void>(call_rank_zero(fabric, liar));
    auto outcome = call_rank_zero(fabric, party);
    EXPECT_TRUE(outcome);
    if (outcome) honest.push_back(std::move(outcome->socket));
  }
  opener.join();
  return lines;
}

peer_identity rank_one_with(std::uint8_t connection, std::uint8_t connections) {
  peer_identity party;
  party.rank = rank_id(1);
  party.size = 2;
  party.connection = connection;
  party.connections = connections;
  return party;
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

}  // namespace
}  // namespace nacre::transport::tcp
