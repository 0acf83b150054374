// SPDX-License-Identifier: Apache-2.0
// Ranks over datagrams: sleeping while datagrams are lost, slow peers, and small packets.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

#include "transport/udp/datagram_socket.hpp"
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

TEST(udp, a_host_without_ports_is_told_from_a_process_without_files) {
  const datagram_socket first(net::address::any_port_of_loopback(), 1 << 16);
  const net::address taken = net::address::of_own_end(first.descriptor());
  try {
    const datagram_socket second(taken, 1 << 16);
    FAIL() << "two sockets at one port";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("no UDP port left"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("net.ipv4.ip_local_port_range"), std::string::npos) << error.what();
  }
}

TEST(udp, ranks_that_sleep_until_something_happens_send_lost_datagrams_again) {
  constexpr int rounds = 60;
  pair_over_datagrams job({.lose = losing(30)});
  std::atomic<int> is_over{0};
  const auto play = [&](std::uint32_t rank) {
    int got = 0;
    if (rank == 0) job.send(0, 8);
    for (bool told = false; is_over < 2;) {
      message_list arrived;
      const bool moved = job.at(rank).poll(arrived, 4);
      while (const message_ptr m = arrived.pop_front()) {
        if (++got < rounds || rank == 1) job.send(rank, 8);
      }
      if (got == rounds && !std::exchange(told, true)) ++is_over;
      if (!moved && is_over < 2) job.at(rank).wait(told ? std::chrono::nanoseconds(milliseconds(5)) : longest_wait);
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
  std::atomic<bool> is_over{false};
  std::thread sleeper([&] {
    while (!is_over) {
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
    for (const int previous = sleeps; sleeps == previous && steady_clock::now() - start < longest_wait;) {
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
  is_over = true;
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

}  // namespace
}  // namespace nacre::transport::udp
