// SPDX-License-Identifier: Apache-2.0
// The network's times against values computed by hand, its order, its queues and its faults.
#include "machine/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <nacre/error.hpp>
#include "machine/event_queue.hpp"

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;

/// L = 1000 ns, g = 30 ns, G = 1 ns a byte, no jitter and no faults.
[[nodiscard]] network_options plain() {
  network_options options;
  options.remote = {.latency = nanoseconds(1000),
                    .send_overhead = nanoseconds(200),
                    .receive_overhead = nanoseconds(100),
                    .gap = nanoseconds(30),
                    .bytes_per_second = 1e9,
                    .jitter = 0};
  options.local = options.remote;
  options.local.latency = nanoseconds(100);
  return options;
}

[[nodiscard]] transfer sent(std::uint32_t source, std::uint32_t target, std::uint64_t bytes,
                            channel on_channel = channel::application) {
  return {.source = rank_id{source}, .target = rank_id{target}, .on_channel = on_channel, .bytes = bytes};
}

/// Lets messages through one after the other, each before the next departs.
[[nodiscard]] std::int64_t through(network& net, const transfer& one, std::int64_t now_ns) {
  return net.arrive(one, net.depart(one, nanoseconds(now_ns)).head_arrives).count();
}

TEST(network, one_message_takes_what_log_gp_says) {
  network net(plain(), 2, rng(1));
  const departure way = net.depart(sent(0, 1, 101), nanoseconds(500));
  EXPECT_EQ(way.head_arrives, nanoseconds(1500));  // now + L
  EXPECT_EQ(way.tail_leaves, nanoseconds(600));    // now + (k - 1) G
  EXPECT_FALSE(way.late);
  EXPECT_EQ(net.arrive(sent(0, 1, 101), way.head_arrives), nanoseconds(1600));  // now + L + (k - 1) G
}

TEST(network, a_port_sends_one_message_after_the_other_with_the_gap_between) {
  network net(plain(), 3, rng(1));
  EXPECT_EQ(net.depart(sent(0, 1, 101), nanoseconds(0)).head_arrives, nanoseconds(1000));
  EXPECT_EQ(net.depart(sent(0, 2, 1), nanoseconds(0)).head_arrives, nanoseconds(1130));    // 100 for bytes, 30 of gap
  EXPECT_EQ(net.depart(sent(0, 1, 1), nanoseconds(140)).head_arrives, nanoseconds(1160));  // the predecessor's gap
  EXPECT_EQ(net.depart(sent(0, 1, 1), nanoseconds(900)).head_arrives, nanoseconds(1900));  // the port is free again
  EXPECT_EQ(net.depart(sent(1, 0, 1), nanoseconds(0)).head_arrives, nanoseconds(1000));    // others have their own port
}

TEST(network, many_senders_to_one_receiver_queue_up_at_its_port) {
  constexpr std::uint32_t senders = 8;
  network net(plain(), senders + 1, rng(1));
  for (std::uint32_t source = 1; source <= senders; ++source) {
    EXPECT_EQ(net.depart(sent(source, 0, 101), nanoseconds(0)).head_arrives, nanoseconds(1000));
  }
  for (std::uint32_t source = 1; source <= senders; ++source) {
    EXPECT_EQ(net.arrive(sent(source, 0, 101), nanoseconds(1000)),
              nanoseconds(1000 + 100 * source + 30 * (source - 1)));
  }
}

TEST(network, fractions_of_a_nanosecond_add_up_in_the_ports) {
  network_options options = plain();
  options.remote.bytes_per_second = 8e9;  // 125 ps a byte
  options.remote.gap = nanoseconds(0);
  network net(options, 2, rng(1));
  for (int i = 0; i < 800; ++i) (void)net.depart(sent(0, 1, 2), nanoseconds(0));
  EXPECT_EQ(net.depart(sent(0, 1, 1), nanoseconds(0)).tail_leaves, nanoseconds(100));
}

TEST(network, no_two_messages_are_complete_at_one_port_in_the_same_nanosecond) {
  network_options options = plain();
  options.remote.bytes_per_second = 8e9;
  options.remote.gap = nanoseconds(0);
  network net(options, 2, rng(1));
  nanoseconds last(0);
  for (int i = 0; i < 20; ++i) {
    const nanoseconds complete = net.arrive(sent(0, 1, 2), nanoseconds(1000));
    EXPECT_GT(complete, last);
    last = complete;
  }
}

TEST(network, a_message_to_the_own_rank_costs_nothing_and_occupies_nothing) {
  network net(plain(), 2, rng(1));
  const departure way = net.depart(sent(1, 1, 1'000'000), nanoseconds(70));
  EXPECT_EQ(way.head_arrives, nanoseconds(70));
  EXPECT_EQ(net.link(rank_id{1}, rank_id{1}).send_overhead, nanoseconds(0));
  EXPECT_EQ(net.link(rank_id{1}, rank_id{1}).receive_overhead, nanoseconds(0));
  EXPECT_EQ(net.depart(sent(1, 0, 1), nanoseconds(70)).head_arrives, nanoseconds(1070));
}

TEST(network, ranks_of_one_host_share_its_port_and_speak_directly_to_each_other) {
  network_options options = plain();
  options.ranks_per_host = 2;
  network net(options, 6, rng(1));
  EXPECT_EQ(net.depart(sent(0, 1, 101), nanoseconds(0)).head_arrives, nanoseconds(100));  // local
  EXPECT_EQ(net.depart(sent(0, 2, 101), nanoseconds(0)).head_arrives, nanoseconds(1000));
  EXPECT_EQ(net.depart(sent(1, 4, 1), nanoseconds(0)).head_arrives, nanoseconds(1130));  // behind rank 0's message
  EXPECT_EQ(net.arrive(sent(0, 2, 101), nanoseconds(2000)), nanoseconds(2100));
  EXPECT_EQ(net.arrive(sent(0, 3, 1), nanoseconds(2000)), nanoseconds(2130));  // behind the message for rank 2
  EXPECT_EQ(net.arrive(sent(3, 2, 1), nanoseconds(2000)), nanoseconds(2000));  // local again
  EXPECT_EQ(net.latency_min(), nanoseconds(100));
}

TEST(network, hops_beyond_the_first_add_to_the_latency) {
  network_options options = plain();
  options.wiring = {.kind = topology_kind::mesh, .shape = {4, 4}};
  options.hop_latency = nanoseconds(7);
  network net(options, 16, rng(1));
  EXPECT_EQ(net.depart(sent(0, 1, 1), nanoseconds(0)).head_arrives, nanoseconds(1000));
  EXPECT_EQ(net.depart(sent(5, 15, 1), nanoseconds(0)).head_arrives, nanoseconds(1000 + 3 * 7));
}

TEST(network, jitter_stretches_latency_within_its_bound_and_fills_it) {
  network_options options = plain();
  options.remote.jitter = 0.5;
  network net(options, 2, rng(1));
  std::int64_t least = 1'000'000;
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const std::int64_t taken = through(net, sent(0, 1, 1), i * 10'000) - i * 10'000;
    least = std::min(least, taken);
    most = std::max(most, taken);
  }
  EXPECT_GE(least, 1000);
  EXPECT_LT(least, 1010);
  EXPECT_LT(most, 1500);
  EXPECT_GT(most, 1490);
}

TEST(network, late_messages_are_as_many_and_as_late_as_asked_for) {
  network_options options = plain();
  options.late_probability = 0.25;
  options.late_factor = 7;
  network net(options, 2, rng(3));
  int late = 0;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const nanoseconds now(i * 100'000);
    const departure way = net.depart(sent(0, 1, 1), now);
    EXPECT_EQ(way.head_arrives - now, nanoseconds(way.late ? 7000 : 1000));
    late += way.late ? 1 : 0;
  }
  EXPECT_NEAR(late, 1000, 140);  // five standard deviations
}

/// Sends random messages and lets them arrive in the order of time; returns the numbers in the order of completion.
struct traffic_jam {
  network net;
  event_queue events;
  rng random;
  std::map<std::array<std::uint32_t, 3>, std::vector<std::uint64_t>>
      streams{};  // completed, by source, target, channel

  traffic_jam(const network_options& options, std::uint64_t seed)
      : net(options, 5, rng(seed).fork(1)), events(rng(seed).fork(2)), random(rng(seed).fork(3)) {}

  void run(std::uint64_t messages) {
    std::vector<transfer> all;
    std::int64_t now_ns = 0;
    for (std::uint64_t i = 0; i < messages; ++i) {
      now_ns += static_cast<std::int64_t>(random.below(200));
      while (!events.empty() && next_ns() <= static_cast<std::uint64_t>(now_ns)) land(all);
      const auto source = static_cast<std::uint32_t>(random.below(5));
      const auto target = (source + 1 + static_cast<std::uint32_t>(random.below(4))) % 5;
      all.push_back(sent(source, target, 1 + random.below(500), static_cast<channel>(random.below(3))));
      const nanoseconds head = net.depart(all.back(), nanoseconds(now_ns)).head_arrives;
      hold({static_cast<std::uint64_t>(head.count()), nullptr, nullptr, i << 1});
    }
    while (!events.empty()) land(all);
  }

 private:
  // The queue's base must not pass the next departure, so the earliest event is known before it is popped.
  std::map<std::uint64_t, int> times_{};
  void hold(const event& added) {
    ++times_[added.when_ns];
    events.push(added);
  }
  [[nodiscard]] std::uint64_t next_ns() const { return times_.begin()->first; }

  void land(const std::vector<transfer>& all) {
    const event popped = events.pop();
    if (--times_.begin()->second == 0) times_.erase(times_.begin());
    const transfer& one = all[popped.argument >> 1];
    if ((popped.argument & 1) == 0) {
      const nanoseconds complete = net.arrive(one, nanoseconds(static_cast<std::int64_t>(popped.when_ns)));
      hold({static_cast<std::uint64_t>(complete.count()), nullptr, nullptr, popped.argument | 1});
    } else {
      streams[{one.source.value(), one.target.value(), static_cast<std::uint32_t>(one.on_channel)}].push_back(
          popped.argument >> 1);
    }
  }
};

TEST(network, order_holds_in_every_stream_under_jitter_and_lateness_while_streams_overtake_each_other) {
  network_options options = plain();
  options.remote.jitter = 3;
  options.remote.gap = nanoseconds(0);
  options.late_probability = 0.1;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    options.remote.bytes_per_second = std::array{0.0, 1e9, 50e9}[seed % 3];
    traffic_jam jam(options, seed);
    jam.run(3000);
    std::size_t completed = 0;
    for (const auto& [key, numbers] : jam.streams) {
      ASSERT_TRUE(std::is_sorted(numbers.begin(), numbers.end())) << "seed " << seed;
      completed += numbers.size();
    }
    ASSERT_EQ(completed, 3000U);
  }
}

TEST(network, a_late_message_holds_up_its_own_stream_and_no_other) {
  network_options options = plain();
  options.late_probability = 1;
  options.late_factor = 10;
  network late_net(options, 2, rng(1));
  const departure first = late_net.depart(sent(0, 1, 1, channel::bulk), nanoseconds(0));
  EXPECT_EQ(first.head_arrives, nanoseconds(10'000));

  options.late_probability = 0.5;
  for (std::uint64_t seed = 0;; ++seed) {
    ASSERT_LT(seed, 200U) << "no seed gave one late message followed by two punctual ones";
    network net(options, 2, rng(seed));
    const departure delayed = net.depart(sent(0, 1, 1, channel::bulk), nanoseconds(0));
    const departure same = net.depart(sent(0, 1, 1, channel::bulk), nanoseconds(100));
    const departure other = net.depart(sent(0, 1, 1, channel::system), nanoseconds(200));
    if (!delayed.late || same.late || other.late) continue;
    EXPECT_EQ(same.head_arrives, delayed.head_arrives + nanoseconds(1));
    EXPECT_EQ(other.head_arrives, nanoseconds(1200));
    break;
  }
}

TEST(network_death, a_negative_cost_and_a_receiver_outside_abort) {
  network_options options = plain();
  network net(options, 2, rng(1));
  EXPECT_DEATH((void)net.depart(sent(0, 2, 1), nanoseconds(0)), "no such transfer");
  options.remote.gap = nanoseconds(-1);
  EXPECT_DEATH(network(options, 2, rng(1)), "negative");
}

TEST(network, contention_and_missing_nodes_need_links_that_can_be_busy) {
  const auto refused = [](auto change) {
    network_options options = plain();
    options.wiring = {.kind = topology_kind::mesh, .shape = {2, 2}};
    options.contention = true;
    static_cast<void>(network(options, 4, rng(1)));
    change(options);
    EXPECT_THROW(static_cast<void>(network(options, 4, rng(1))), setup_error);
  };
  refused([](network_options& options) { options.wiring.kind = topology_kind::flat; });
  refused([](network_options& options) { options.hop_latency = nanoseconds(0); });
  refused([](network_options& options) { options.hop_latency = nanoseconds(1001); });
  refused([](network_options& options) { options.remote.bytes_per_second = 0; });
  refused([](network_options& options) { options.missing = {{1, 0, 0}}; });
  refused([](network_options& options) { options.wiring.shape = {2, 2, 1, 1}; });
  refused([](network_options& options) {
    options.wiring.shape = {};
    options.missing = {{1, 0, 0}};
  });
}

}  // namespace
}  // namespace nacre::machine
