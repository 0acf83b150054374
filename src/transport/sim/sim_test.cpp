// SPDX-License-Identifier: Apache-2.0
// The guarantees of the simulated transport beyond the contract that every backend keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "transport/sim/sim_test_kit.hpp"

namespace nacre::transport::sim_tests {
namespace {

TEST(sim, a_message_pays_overhead_latency_and_bytes_and_its_receiver_the_rest) {
  job two(2, plain());
  two.send(0, 1, numbered(7, channel::application, 61));    // 101 bytes
  EXPECT_EQ(two.fabric.machine().now(), nanoseconds(200));  // o of the sender
  EXPECT_TRUE(two.ends[0]->unsent());                       // its bytes take 100 more
  two.run();
  ASSERT_EQ(two.received[1].size(), 1U);
  EXPECT_EQ(two.received[1][0].when_ns, 200 + 1000 + 100);         // o + L + (k - 1) G
  EXPECT_EQ(two.fabric.machine().now(), nanoseconds(1300 + 100));  // and o of the receiver
  EXPECT_FALSE(two.ends[0]->unsent());
}

TEST(sim, a_batch_pays_its_overheads_one_after_the_other) {
  job two(2, plain());
  message_list batch;
  for (std::uint32_t i = 0; i < 3; ++i) batch.push_back(numbered(i));  // 40 bytes each
  two.ends[0]->submit(rank_id{1}, batch);
  EXPECT_EQ(two.fabric.machine().now(), nanoseconds(600));
  two.run();
  const std::vector<job::receipt> expected{
      {1239, 0, channel::application}, {1439, 1, channel::application}, {1639, 2, channel::application}};
  EXPECT_EQ(two.received[1], expected);
}

TEST(sim, messages_from_many_to_one_are_served_one_after_the_other) {
  constexpr std::uint32_t senders = 10;
  sim_options options = plain();
  options.network.remote.send_overhead = nanoseconds(0);
  job all(senders + 1, options);
  for (std::uint32_t source = 1; source <= senders; ++source)
    all.send(source, 0, numbered(source, channel::application, 61));
  all.run();
  ASSERT_EQ(all.received[0].size(), senders);
  for (std::uint32_t i = 0; i < senders; ++i) EXPECT_EQ(all.received[0][i].when_ns, 1000 + 100 * (i + 1) + 30 * i);
}

TEST(sim, a_message_to_the_own_rank_arrives_now_in_order_and_only_by_an_event) {
  job two(2, plain());
  two.fabric.machine().spend(nanoseconds(50));
  message_list batch;
  for (std::uint32_t i = 0; i < 100; ++i) batch.push_back(numbered(i));
  two.ends[0]->submit(rank_id{0}, batch);
  two.send(0, 0, numbered(100));
  EXPECT_EQ(two.fabric.machine().now(), nanoseconds(50));
  EXPECT_EQ(two.ends[0]->waiting(), 0U);
  two.run();
  ASSERT_EQ(two.received[0].size(), 101U);
  for (std::uint32_t i = 0; i <= 100; ++i) {
    EXPECT_EQ(two.received[0][i], (job::receipt{50, i, channel::application}));
  }
  EXPECT_EQ(two.fabric.traffic().self_messages, 101U);
  EXPECT_EQ(two.fabric.traffic().messages, 0U);
}

TEST(sim, own_messages_of_two_activities_that_overlap_in_time_keep_the_order_in_which_they_were_submitted) {
  job one(1, plain());
  machine::simulation& clock = one.fabric.machine();
  clock.at(
      nanoseconds(10),
      [](void* self, std::uint64_t) {
        auto& all = *static_cast<job*>(self);
        all.fabric.machine().spend(nanoseconds(1000));
        all.send(0, 0, numbered(1));
      },
      &one, 0);
  clock.at(
      nanoseconds(20), [](void* self, std::uint64_t) { static_cast<job*>(self)->send(0, 0, numbered(2)); }, &one, 0);
  one.run();
  EXPECT_EQ(one.received[0],
            (std::vector<job::receipt>{{1010, 1, channel::application}, {1010, 2, channel::application}}));
}

/// A program of random course: ranks answer arriving messages with new ones, until enough were sent.
struct gossip {
  job all;
  rng random;
  std::uint32_t sent = 0;
  std::uint32_t sent_max;
  std::vector<std::vector<std::uint32_t>> last{};  // by channel: number seen last, by from * ranks + to
  struct hook_subject {
    gossip* everyone;
    std::uint32_t rank;
  };
  std::vector<hook_subject> hook_subjects{};
  std::uint64_t received = 0;

  gossip(std::uint32_t ranks, const sim_options& options, std::uint32_t messages)
      : all(ranks, options), random(rng(options.machine.seed).fork(9)), sent_max(messages) {
    last.assign(3, std::vector<std::uint32_t>(std::size_t{ranks} * ranks, 0));
    hook_subjects.reserve(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      hook_subjects.push_back({this, rank});
      all.ends[rank]->set_arrival_hook(&on_arrival, &hook_subjects.back());
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) pass_on(rank);
  }

  void pass_on(std::uint32_t rank) {
    for (std::uint64_t i = 1 + random.below(3); i != 0 && sent < sent_max; --i) {
      const auto on_channel = static_cast<channel>(random.below(3));
      message_ptr m = numbered(++sent, on_channel, random.below(200));
      m->header.source = rank;
      all.send(rank, static_cast<std::uint32_t>(random.below(all.ends.size())), std::move(m));
    }
  }

  static void on_arrival(void* self) {
    auto& [everyone, rank] = *static_cast<hook_subject*>(self);
    message_list arrived;
    everyone->all.ends[rank]->poll(arrived, 100);
    while (const message_ptr m = arrived.pop_front()) {
      ++everyone->received;
      const std::size_t pair = m->header.source * everyone->all.ends.size() + rank;
      std::uint32_t& previous = everyone->last[static_cast<std::size_t>(m->header.channel)][pair];
      EXPECT_LT(previous, m->header.sequence) << "a message has overtaken its own stream";
      previous = m->header.sequence;
      everyone->pass_on(rank);
    }
  }

  std::uint64_t run() {
    const std::uint64_t hash = all.run();
    EXPECT_EQ(received, sent);
    EXPECT_EQ(all.fabric.traffic().in_flight, 0U);
    return hash;
  }
};

[[nodiscard]] sim_options wild(std::uint64_t seed) {
  sim_options options = plain(seed);
  options.network.remote.jitter = 2;
  options.network.late_probability = 0.05;
  options.network.ranks_per_host = 3;
  return options;
}

TEST(sim, order_holds_on_every_channel_under_jitter_and_lateness) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    gossip program(8, wild(seed), 3000);
    program.run();
    EXPECT_EQ(program.sent, 3000U) << "the gossip died out with seed " << seed;
    EXPECT_GT(program.all.fabric.traffic().late, 0U);
  }
}

TEST(sim, the_same_seed_gives_the_same_trace_and_other_seeds_others) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    hashes.push_back(gossip(7, wild(seed), 500).run());
    EXPECT_EQ(gossip(7, wild(seed), 500).run(), hashes.back()) << "seed " << seed;
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

/// The trace when one message that `change` has altered goes from rank `source` to rank `target`.
template <class Change>
[[nodiscard]] std::uint64_t trace_of(std::uint32_t source, std::uint32_t target, Change change) {
  job three(3, plain());
  message_ptr m = numbered(5);
  change(*m);
  three.send(source, target, std::move(m));
  return three.run();
}

TEST(sim, the_trace_knows_what_each_delivery_was) {
  const auto same = [](message&) {};
  std::vector<std::uint64_t> hashes{
      trace_of(0, 1, same),
      trace_of(1, 0, same),
      trace_of(0, 2, same),
      trace_of(0, 1, [](message& m) { m.header.sequence = 6; }),
      trace_of(0, 1, [](message& m) { m.header.handler = 6; }),
      trace_of(0, 1, [](message& m) { m.header.object = 6; }),
      trace_of(0, 1, [](message& m) { m.header.kind = message_kind::reply; }),
      trace_of(0, 1, [](message& m) { m.header.channel = channel::bulk; }),
  };
  EXPECT_EQ(trace_of(0, 1, same), hashes[0]);
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(sim, traffic_is_counted_for_each_rank_and_in_all) {
  job three(3, plain());
  three.send(0, 1, numbered(0, channel::application, 60));
  three.send(0, 2, numbered(0));
  three.send(2, 2, numbered(0));
  EXPECT_EQ(three.fabric.traffic().in_flight, 3U);
  three.run();
  EXPECT_EQ(three.fabric.traffic(rank_id{0}).messages_sent, 2U);
  EXPECT_EQ(three.fabric.traffic(rank_id{0}).bytes_sent, 140U);
  EXPECT_EQ(three.fabric.traffic(rank_id{1}).messages_received, 1U);
  EXPECT_EQ(three.fabric.traffic(rank_id{1}).bytes_received, 100U);
  EXPECT_EQ(three.fabric.traffic(rank_id{2}).messages_received, 1U);
  EXPECT_EQ(three.fabric.traffic().messages, 2U);
  EXPECT_EQ(three.fabric.traffic().bytes, 140U);
  EXPECT_EQ(three.fabric.traffic().in_flight, 0U);
  EXPECT_EQ(three.fabric.traffic().in_flight_max, 3U);
}

TEST(sim, poll_hands_out_no_more_than_it_is_asked_for_and_charges_for_no_more) {
  job two(2, plain());
  two.ends[1]->set_arrival_hook(nullptr, nullptr);
  for (std::uint32_t i = 0; i < 5; ++i) two.send(0, 1, numbered(i));
  two.run();
  const nanoseconds time = two.fabric.machine().now();
  message_list arrived;
  EXPECT_TRUE(two.ends[1]->poll(arrived, 2));
  EXPECT_EQ(arrived.size(), 2U);
  EXPECT_EQ(two.ends[1]->waiting(), 3U);
  EXPECT_EQ(two.fabric.machine().now() - time, nanoseconds(200));
  EXPECT_TRUE(two.ends[1]->poll(arrived, 100));
  EXPECT_FALSE(two.ends[1]->poll(arrived, 100));
  EXPECT_EQ(arrived.size(), 5U);
}

TEST(sim, each_poll_costs_what_a_look_does_whatever_it_finds) {
  sim_options options = plain();
  options.network.poll = nanoseconds(7);
  job two(2, options);
  two.ends[1]->set_arrival_hook(nullptr, nullptr);
  for (std::uint32_t i = 0; i < 3; ++i) two.send(0, 1, numbered(i));
  two.run();
  const auto cost_of_poll = [&](std::size_t messages_max) {
    const nanoseconds time = two.fabric.machine().now();
    message_list arrived;
    static_cast<void>(two.ends[1]->poll(arrived, messages_max));
    return two.fabric.machine().now() - time;
  };
  EXPECT_EQ(cost_of_poll(2), nanoseconds(7 + 2 * 100));
  EXPECT_EQ(cost_of_poll(2), nanoseconds(7 + 100));
  EXPECT_EQ(cost_of_poll(2), nanoseconds(7));
}

TEST(sim, messages_after_the_shutdown_are_dropped_and_counted) {
  job two(2, plain());
  two.send(0, 1, numbered(0));
  two.send(1, 0, numbered(1));
  two.ends[1]->close(nanoseconds(0));
  two.run();
  EXPECT_TRUE(two.received[1].empty());
  EXPECT_EQ(two.received[0].size(), 1U);  // submitted before the other rank closed
  EXPECT_EQ(two.fabric.traffic().dropped, 1U);
}

TEST(sim, a_machine_may_end_with_messages_on_their_way) {
  job two(2, plain());
  for (std::uint32_t i = 0; i < 100; ++i) two.send(0, i % 2, numbered(i, channel::bulk, 1000));
  EXPECT_TRUE(two.fabric.advance());
  EXPECT_EQ(two.fabric.traffic().in_flight, 99U);
}

TEST(sim, the_seed_and_the_network_come_from_the_configuration) {
  static constexpr option seed_row{"seed", option_kind::integer, "1", "", "0..", "Decides what is left to chance"};
  config configuration{option_table{"sim", sim_option_rows()}, option_table{"runtime", {&seed_row, 1}}};
  configuration.set("seed", "42");
  configuration.set("sim.latency", "9us");
  const std::unique_ptr<fabric> result = make_sim_fabric(3, configuration);
  auto& simulated = dynamic_cast<sim_fabric&>(*result);
  EXPECT_EQ(simulated.machine().seed(), 42U);
  EXPECT_EQ(simulated.network().options().remote.latency, nanoseconds(9000));
  EXPECT_EQ(result->size(), 3U);
  EXPECT_EQ(result->local_ranks().size(), 3U);
}

TEST(sim_death, waiting_for_virtual_time_aborts) {
  job one(1, plain());
  EXPECT_DEATH(one.ends[0]->wait(nanoseconds(1)), "virtual time");
  EXPECT_DEATH(one.ends[0]->wake(), "virtual time");
}

TEST(sim_death, live_values_are_refused) {
  job two(2, plain());
  static const body_ops values{[](const message&) { return std::size_t{0}; }, [](message&, writer&) {},
                               [](message&) noexcept {}};
  message_ptr m = numbered(0);
  m->ops = &values;
  message_list batch;
  batch.push_back(std::move(m));
  EXPECT_DEATH(two.ends[0]->submit(rank_id{1}, batch), "live values");
}

}  // namespace
}  // namespace nacre::transport::sim_tests
