// SPDX-License-Identifier: Apache-2.0
// Ranks over datagrams: sleeping while datagrams are lost, strangers, slow peers, small packets, and peers that lie.
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "transport/udp/endpoint.hpp"
#include "transport/udp/fabric.hpp"
#include "transport/udp/pair_test_kit.hpp"
#include "transport/udp/peer_exchange.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

datagram_socket::loss losing(std::uint64_t percent) {
  return [next = std::make_shared<std::atomic<std::uint64_t>>(7), percent] {
    return rng(next->fetch_add(1)).below(100) < percent;
  };
}

TEST(udp, ranks_that_sleep_until_something_happens_send_lost_datagrams_again) {
  constexpr int rounds = 60;
  pair_over_datagrams job({.lose = losing(30)});
  std::atomic<int> over{0};
  const auto play = [&](std::uint32_t rank) {
    int got = 0;
    if (rank == 0) job.send(0, 8);
    for (bool told = false; over < 2;) {
      message_list arrived;
      const bool moved = job.at(rank).poll(arrived, 4);
      while (const message_ptr m = arrived.pop_front()) {
        if (++got < rounds || rank == 1) job.send(rank, 8);
      }
      if (got == rounds && !std::exchange(told, true)) ++over;
      if (!moved && over < 2) job.at(rank).wait(told ? std::chrono::nanoseconds(milliseconds(5)) : longest_wait);
    }
  };
  const auto start = steady_clock::now();
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_LT(steady_clock::now() - start, longest_wait) << "a rank has overslept the time to send again";
}

TEST(udp, a_sleeping_thread_wakes_in_time_to_send_again_what_another_thread_has_submitted) {
  constexpr int rounds = 30;
  const auto losing_now = std::make_shared<std::atomic<bool>>(false);
  pair_over_datagrams job({.lose = [losing_now] { return losing_now->load(); }});
  std::mutex mutex;  // polls and submits of rank 0
  std::atomic<int> sleeps{0};
  std::atomic<bool> over{false};
  std::thread sleeper([&] {
    while (!over) {
      ++sleeps;
      job.at(0).wait(longest_wait);
      const std::scoped_lock lock(mutex);
      message_list nothing;
      while (job.at(0).poll(nothing, 4)) continue;
    }
  });
  const auto start = steady_clock::now();
  message_list arrived;
  for (int round = 0; round < rounds; ++round) {
    for (const int before = sleeps; sleeps == before && steady_clock::now() - start < longest_wait;) {
      job.at(0).wake();
      std::this_thread::yield();
    }
    {
      const std::scoped_lock lock(mutex);
      *losing_now = true;
      job.send(0, 8);
      *losing_now = false;
    }
    while (arrived.size() <= static_cast<std::size_t>(round) && steady_clock::now() - start < longest_wait) {
      job.at(1).poll(arrived, 4);
    }
  }
  over = true;
  job.at(0).wake();
  sleeper.join();
  EXPECT_EQ(arrived.size(), static_cast<std::size_t>(rounds));
  EXPECT_LT(steady_clock::now() - start, longest_wait) << "it has overslept";
}

TEST(udp, close_flushes_messages_over_a_path_that_loses_datagrams) {
  pair_over_datagrams job({.lose = losing(30)});
  for (int i = 0; i < 200; ++i) job.send(0, 20'000);
  std::atomic<bool> closed{false};
  const auto start = steady_clock::now();
  std::thread closing([&] {
    job.at(0).close(longest_wait);
    closed = true;
  });
  message_list arrived;
  while (!closed) {
    if (!job.at(1).poll(arrived, 64)) job.at(1).wait(milliseconds(1));
  }
  closing.join();
  EXPECT_EQ(arrived.size(), 200U);
  EXPECT_LT(steady_clock::now() - start, longest_wait) << "it has waited in vain";
  job.at(1).close(longest_wait);
  EXPECT_FALSE(job.at(1).failed());
}

TEST(udp, small_packets_carry_large_messages) {
  for (const std::uint32_t mtu : {1280U, 1500U, 9000U}) {
    pair_over_datagrams job({.mtu = mtu});
    for (const std::uint32_t bytes : {1U, 1180U, 1181U, 100'000U, 1U << 22}) {
      for (const std::uint32_t sender : {0U, 1U}) {
        job.send(sender, bytes);
        EXPECT_EQ(job.take(1 - sender, 1), 1U);
      }
    }
  }
}

TEST(udp, a_kernel_with_small_buffers_delays_a_flood_and_loses_nothing) {
  pair_over_datagrams job({.receive_buffer_bytes = 1u << 16});
  for (int i = 0; i < 300; ++i) job.send(0, 20'000);
  EXPECT_EQ(job.take(1, 300), 300U);
}

TEST(udp, a_kernel_that_limits_buffers_is_told_of_once_with_the_remedy) {
  EXPECT_EQ(line_of_small_buffer(4u << 20, 4u << 20), "");
  EXPECT_EQ(line_of_small_buffer(4u << 20, 3u << 20), "") << "that much does no harm";
  const std::string line = line_of_small_buffer(4u << 20, 425'984);
  EXPECT_NE(line.find("keeps 416 KiB of what each peer sends instead of 4096 KiB"), std::string::npos) << line;
  EXPECT_NE(line.find("net.core.rmem_max=2097152"), std::string::npos) << line;
  EXPECT_NE(line.find("--nacre.udp.receive_buffer=416KiB"), std::string::npos) << line;
  const datagram_socket socket(net::address::any_port_of_loopback(), 1u << 16);
  EXPECT_GE(socket.buffer_bytes(), 1u << 16) << "every kernel gives as much";
}

TEST(udp, ranks_between_which_no_datagram_passes_say_so_when_the_time_is_over) {
  local_fabric fabric(2, {.join = {.connect_timeout = milliseconds(200)}, .lose = [] { return true; }});
  const auto words_of = [&](std::uint32_t rank) -> std::string {
    try {
      static_cast<void>(fabric.open(rank_id(rank)));
    } catch (const setup_error& error) {
      return error.what();
    }
    return "it has begun";
  };
  std::string other_words;
  std::thread other([&] { other_words = words_of(1); });
  const std::string words = words_of(0);
  other.join();
  EXPECT_NE((words + other_words).find("do not reach each other by datagrams: none comes through in time"),
            std::string::npos)
      << words << other_words;
  EXPECT_NE((words + other_words).find("use --transport tcp"), std::string::npos);
}

/// Rank 0 of two, while the test plays rank 1, which has met it and has its keys.
class rank_with_a_liar {
 public:
  rank_with_a_liar() {
    std::array<int, 2> streams{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, streams.data()), 0);
    liveness_.reset(streams[1]);
    datagram_socket own(net::address::any_port_of_loopback(), 1u << 20);
    peer_.emplace(net::address::any_port_of_loopback(), 1u << 20);
    own.connect(peer_->own_address());
    peer_->connect(own.own_address());
    endpoint_parts parts{.rank = rank_id(0), .peers = {}, .launcher = nullptr, .output_bytes_max = 1u << 20};
    parts.peers.resize(2);
    const frame_limits frames{.ranks = 2, .payload_bytes_max = 1u << 20, .peer = rank_id(1)};
    parts.peers[1].emplace(peer_parts{
        .liveness_socket = net::unique_fd(streams[0]),
        .socket = std::move(own),
        .link = connection({.frames = frames, .datagram_bytes = 1400, .peer_buffer_bytes = 1u << 20}, key(1), key(2)),
        .apart = unreliable_link(1400, key(3), key(4))});
    end_ = std::make_unique<udp_endpoint>(std::move(parts));
  }

  void send(const datagram& what, std::span<const std::byte> bytes, std::uint8_t signed_by) {
    outgoing_batch batch;
    const std::span<std::byte> space = batch.space();
    const std::size_t front = write_head(what, space);
    std::copy(bytes.begin(), bytes.end(), space.begin() + static_cast<std::ptrdiff_t>(front));
    key(signed_by).sign(space.first(front + bytes.size()));
    batch.add(front + bytes.size());
    EXPECT_EQ(peer_->send(batch), 1U);
  }
  void say(std::uint8_t sign) { EXPECT_EQ(net::send_some(liveness_.get(), &sign, 1), 1); }
  void hang_up() { liveness_.reset(); }

  [[nodiscard]] std::optional<failure> poll_for_failure(int polls) {
    for (; polls > 0; --polls) {
      end_->poll(arrived, 10);
      if (auto seen = end_->failed()) return seen;
    }
    return std::nullopt;
  }

  message_list arrived;

 private:
  static datagram_key key(std::uint8_t number) {
    job_secret::proof bytes{};
    bytes.fill(static_cast<std::byte>(number));
    return {tag_method::siphash, bytes};
  }

  net::unique_fd liveness_;
  std::optional<datagram_socket> peer_;
  std::unique_ptr<udp_endpoint> end_;
};

TEST(udp, a_datagram_without_the_key_changes_nothing_and_a_forged_header_is_a_failure_that_names_the_rank) {
  rank_with_a_liar job;
  message_header header;
  header.source = 1;
  const auto bytes = std::as_bytes(std::span(&header, 1));
  const datagram first{.number = 0, .kind = datagram_kind::stream, .on = channel::application};
  job.send(first, bytes, 9);
  EXPECT_FALSE(job.poll_for_failure(200));
  EXPECT_TRUE(job.arrived.empty());
  job.send(first, bytes, 2);
  EXPECT_FALSE(job.poll_for_failure(200));
  EXPECT_EQ(job.arrived.size(), 1U);
  job.send(first, bytes, 2);
  EXPECT_FALSE(job.poll_for_failure(200));
  EXPECT_EQ(job.arrived.size(), 1U) << "a replay changes nothing";
  header.source = 7;
  job.send({.number = 1, .kind = datagram_kind::stream, .on = channel::application, .offset = sizeof header}, bytes, 2);
  const auto seen = job.poll_for_failure(200);
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent a message from a rank that does not exist");
  job.hang_up();
  EXPECT_FALSE(job.poll_for_failure(3000)) << "it is told once";
}

TEST(udp, a_stream_that_ends_is_a_failure_without_a_shutdown_and_none_with_one) {
  {
    rank_with_a_liar job;
    job.hang_up();
    const auto seen = job.poll_for_failure(3000);
    ASSERT_TRUE(seen);
    EXPECT_EQ(describe(*seen), "rank 1 closed its connection without a shutdown");
  }
  rank_with_a_liar job;
  job.say(1);
  job.say(2);
  job.hang_up();
  EXPECT_FALSE(job.poll_for_failure(5000));
}

TEST(udp, a_rank_that_says_more_after_its_shutdown_is_a_failure) {
  rank_with_a_liar job;
  job.say(2);
  job.say(2);
  const auto seen = job.poll_for_failure(5000);
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 1 sent something after its shutdown");
}

}  // namespace
}  // namespace nacre::transport::udp
