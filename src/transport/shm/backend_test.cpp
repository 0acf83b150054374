// SPDX-License-Identifier: Apache-2.0
// Ranks over shared memory: polled peers, doorbells, wakeups, and the messages that dead peers have left.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "join/net/liveness_sockets.hpp"
#include "transport/shm/endpoint.hpp"
#include "transport/shm/fabric.hpp"
#include "transport/shm/poll_set.hpp"
#include "transport/shm/ring_reader.hpp"

namespace nacre::transport::shm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds longest_wait{30};

/// Ranks of this process, all open.
class open_job {
 public:
  explicit open_job(std::uint32_t ranks, const settings& settings = {}) : fabric_(ranks, settings) {
    for (const rank_id each : fabric_.local_ranks()) ends_.push_back(fabric_.open(each));
  }
  [[nodiscard]] endpoint& at(std::uint32_t rank) { return *ends_[rank]; }
  [[nodiscard]] segment_head& head_of(std::uint32_t rank) { return fabric_.segment_of(rank_id(rank)).head(); }
  void end(std::uint32_t rank) { ends_[rank].reset(); }

  void send(std::uint32_t source, std::uint32_t target, std::size_t bytes) {
    message_list batch;
    batch.push_back(make_message(bytes));
    batch.front()->header.source = source;
    at(source).submit(rank_id(target), batch);
    EXPECT_TRUE(batch.empty());
  }
  /// The sender of the next message that `rank` receives.
  [[nodiscard]] std::uint32_t receive(std::uint32_t rank) {
    message_list arrived;
    const auto deadline = steady_clock::now() + longest_wait;
    while (arrived.empty() && steady_clock::now() < deadline) {
      if (!at(rank).poll(arrived, 1)) at(rank).wait(milliseconds(1));
    }
    EXPECT_EQ(arrived.size(), 1U);
    return arrived.empty() ? ~0U : arrived.front()->header.source;
  }

 private:
  local_fabric fabric_;
  std::vector<std::unique_ptr<endpoint>> ends_;
};

TEST(shm, hears_every_one_of_many_peers_in_whatever_order_they_speak) {
  constexpr std::uint32_t ranks = 70;  // more than one word of doorbells
  open_job job(ranks);
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (std::uint32_t peer = 1; peer < ranks; ++peer) {
      const std::uint32_t sender = 1 + (peer * 13 + round) % (ranks - 1);
      job.send(sender, 0, 8);
      ASSERT_EQ(job.receive(0), sender);
      // After so many polls in vain the polled peers may be evicted.
      message_list nothing;
      for (int i = 0; i < 30; ++i) job.at(0).poll(nothing, 1);
      ASSERT_TRUE(nothing.empty());
    }
  }
}

/// The ranks of one host in a job of several hosts.
TEST(shm, connects_the_ranks_of_a_host_however_many_the_job_has) {
  constexpr std::uint32_t job_ranks = 50'000;
  const std::vector<std::uint32_t> ranks{4'095, 4'711, 49'999};
  const geometry sizes = geometry::fitting(static_cast<std::uint32_t>(ranks.size()), 4096, 1u << 20);
  std::vector<std::shared_ptr<segment>> segments;
  for ([[maybe_unused]] const std::uint32_t each : ranks)
    segments.push_back(std::make_shared<segment>(segment::create(sizes)));
  auto sockets = net::make_liveness_sockets(static_cast<std::uint32_t>(ranks.size()));
  std::vector<std::unique_ptr<shm_endpoint>> ends;
  for (std::size_t own = 0; own < ranks.size(); ++own) {
    endpoint_parts parts{.rank = rank_id(ranks[own]),
                         .own_segment = segments[own],
                         .peers = std::vector<std::optional<peer_parts>>(job_ranks),
                         .launcher = nullptr,
                         .limits = {.held_bytes_max = 1u << 20, .fetch_bytes_min = 16'384}};
    for (std::size_t peer = 0; peer < ranks.size(); ++peer) {
      if (peer != own)
        parts.peers[ranks[peer]] =
            peer_parts{.theirs = segments[peer], .liveness_socket = std::move(sockets[own][peer])};
    }
    ends.push_back(std::make_unique<shm_endpoint>(std::move(parts)));
  }
  for (std::size_t own = 0; own < ranks.size(); ++own) {
    EXPECT_EQ(ends[own]->size(), job_ranks);
    for (std::size_t peer = 0; peer < ranks.size(); ++peer) {
      message_list batch, arrived;
      batch.push_back(make_message(8));
      batch.front()->header.source = ranks[own];
      ends[own]->submit(rank_id(ranks[peer]), batch);
      for (int polls = 0; polls < 1000 && arrived.empty(); ++polls) ends[peer]->poll(arrived, 1);
      ASSERT_EQ(arrived.size(), 1U) << ranks[own] << " to " << ranks[peer];
      EXPECT_EQ(arrived.front()->header.source, ranks[own]);
    }
  }
  ends[2].reset();
  std::optional<failure> ended;
  message_list none;
  for (const auto deadline = steady_clock::now() + longest_wait; !ended && steady_clock::now() < deadline;) {
    ends[0]->poll(none, 1);
    ends[0]->wait(milliseconds(1));
    ended = ends[0]->failed();
  }
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->peer, rank_id(ranks[2]));
}

TEST(shm, a_flooding_peer_does_not_keep_others_from_being_heard) {
  constexpr std::uint32_t ranks = 8;
  open_job job(ranks);
  for (int i = 0; i < 400; ++i) job.send(1, 0, 8);
  for (std::uint32_t peer = 2; peer < ranks; ++peer) job.send(peer, 0, 8);
  message_list arrived;
  for (int polls = 0; polls < 4; ++polls) job.at(0).poll(arrived, 64);
  std::set<std::uint32_t> heard;
  while (const message_ptr m = arrived.pop_front()) heard.insert(m->header.source);
  EXPECT_EQ(heard.size(), ranks - 1);
}

/// The first call to receive reads a part of a long payload, and no doorbell rings for the rest.
TEST(shm, long_payloads_of_more_peers_than_are_polled_arrive_to_the_end) {
  constexpr std::uint32_t ranks = 10;
  open_job job(ranks);
  for (std::uint32_t peer = 1; peer < ranks; ++peer) job.send(peer, 0, 4 * ring_reader::fetch_bytes_a_call);
  std::set<std::uint32_t> heard;
  for (std::uint32_t peer = 1; peer < ranks && !HasFailure(); ++peer) heard.insert(job.receive(0));
  EXPECT_EQ(heard.size(), ranks - 1);
}

TEST(shm, forged_doorbells_and_wakeups_keep_no_rank_awake_or_asleep) {
  open_job job(8);
  for (std::uint64_t& word : job.head_of(0).doorbells) word = ~std::uint64_t{0};
  job.head_of(0).futex_wakeup = 77;
  message_list nothing;
  job.at(0).poll(nothing, 64);
  job.at(0).poll(nothing, 64);
  const auto start = steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    job.at(0).wait(milliseconds(4));
    job.at(0).poll(nothing, 64);
  }
  EXPECT_GT(steady_clock::now() - start, milliseconds(10)) << "a doorbell that nobody can answer keeps ringing";
  EXPECT_TRUE(nothing.empty());
  job.send(3, 0, 8);
  EXPECT_EQ(job.receive(0), 3U);
}

TEST(shm, long_payloads_go_in_fragments_where_memory_cannot_be_read) {
  open_job job(2, {.ring_bytes = 4096, .single_copy = false});
  job.send(0, 1, 1u << 20);
  EXPECT_TRUE(job.at(0).unsent());
  message_list arrived, nothing;
  for (int round = 0; round < 10000 && arrived.empty(); ++round) {
    job.at(1).poll(arrived, 1);
    job.at(0).poll(nothing, 1);
  }
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived.front()->header.payload_bytes, 1u << 20);
  EXPECT_FALSE(job.at(0).unsent());
}

TEST(shm, a_sender_that_sleeps_for_want_of_room_is_woken_when_there_is_some) {
  open_job job(2, {.ring_bytes = 4096, .output_max = 64u << 10, .single_copy = false});
  std::thread reader([&] {
    message_list arrived;
    while (arrived.size() < 100) {
      if (!job.at(1).poll(arrived, 4)) job.at(1).wait(longest_wait);
    }
  });
  const auto start = steady_clock::now();
  message_list batch, nothing;
  for (int i = 0; i < 100; ++i) batch.push_back(make_message(10000));
  while (!batch.empty() || job.at(0).unsent()) {
    job.at(0).submit(rank_id(1), batch);
    if (!job.at(0).poll(nothing, 1)) job.at(0).wait(longest_wait);
  }
  reader.join();
  // Each of about 1,000 fragments waits for room: a sleep that only its timeout ends would take 100 ms each.
  EXPECT_LT(steady_clock::now() - start, seconds(15));
}

TEST(shm, what_the_dead_have_sent_arrives_before_their_failure_is_told) {
  open_job job(8);
  for (int i = 0; i < 100; ++i) job.send(5, 0, 100);
  job.end(5);
  job.at(0).wait(milliseconds(0));  // the next poll sees the end, while the ring is still almost full
  message_list arrived;
  std::optional<failure> seen;
  const auto deadline = steady_clock::now() + longest_wait;
  while (!seen && steady_clock::now() < deadline) {
    if (!job.at(0).poll(arrived, 7)) job.at(0).wait(milliseconds(1));
    seen = job.at(0).failed();
  }
  ASSERT_TRUE(seen);
  EXPECT_EQ(arrived.size(), 100U);
  EXPECT_EQ(seen->peer, rank_id(5));
  EXPECT_EQ(seen->reason, "ended without a shutdown");
}

TEST(poll_set, gives_places_to_the_first_peers_and_later_to_those_who_are_heard_instead_of_the_silent) {
  auto head = std::make_unique<segment_head>();
  poll_set set(*head, 100);
  for (std::uint32_t peer = 1; peer <= poll_set::places; ++peer) EXPECT_TRUE(set.admit(peer));
  EXPECT_FALSE(set.admit(50));
  EXPECT_FALSE(set.idle_place()) << "nobody has been silent for long";
  for (int i = 0; i < 200; ++i) {
    for (std::size_t index = 0; index < poll_set::places; ++index) set.note(index, index != 2);
  }
  ASSERT_EQ(set.idle_place(), 2U);
  set.assign(2, 50);
  EXPECT_EQ(set.polled(2), 50U);
  EXPECT_FALSE(set.idle_place());
  set.remove(50);
  EXPECT_FALSE(set.polled(2));
  EXPECT_TRUE(set.admit(60));
}

TEST(poll_set, names_each_peer_that_has_rung_once_a_round_and_starts_at_another_each_time) {
  auto head = std::make_unique<segment_head>();
  poll_set set(*head, 100);
  EXPECT_FALSE(set.take_doorbells());
  EXPECT_FALSE(set.rung());
  head->doorbells[0] = 0b1001;
  head->doorbells[1] = ~std::uint64_t{0};  // 36 of these are ranks
  EXPECT_TRUE(set.rung());
  EXPECT_TRUE(set.take_doorbells());
  EXPECT_EQ(head->doorbells[1], 0U);
  std::set<std::uint32_t> firsts;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint32_t> named;
    std::uint32_t cursor = set.begin_round();
    while (const auto peer = set.next_pending(cursor)) named.push_back(*peer);
    ASSERT_EQ(named.size(), 38U);
    ASSERT_EQ(std::set<std::uint32_t>(named.begin(), named.end()).size(), 38U);
    ASSERT_LT(*std::max_element(named.begin(), named.end()), 100U);
    firsts.insert(named.front());
  }
  EXPECT_EQ(firsts.size(), 38U);
  for (std::uint32_t peer = 0; peer < 100; ++peer) set.set_pending(peer, false);
  EXPECT_FALSE(set.rung());
}

}  // namespace
}  // namespace nacre::transport::shm
