// SPDX-License-Identifier: Apache-2.0
// Data longer than a packet: every length, every packet, in order, also while blocks move.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

namespace nacre::emulator {
namespace {

using namespace std::chrono_literals;

struct received {
  std::vector<std::vector<std::uint32_t>> all;
  std::vector<coordinates> senders;
  std::vector<std::uint32_t> threads;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all, senders, threads);
  }
};

void receive_numbers(emulated_node& node, const coordinates& source, std::vector<std::uint32_t> data) {
  node.state<received>().all.push_back(std::move(data));
  node.state<received>().senders.push_back(source);
  node.state<received>().threads.push_back(node.thread());
}
/// Many, so that other nodes are between them: sends lists of growing lengths to the node {0, 1, 2}.
void send_lists(emulated_node& node, std::uint32_t lists) {
  for (std::uint32_t k = 0; k < lists; ++k) {
    std::vector<std::uint32_t> list(k * 7);
    std::iota(list.begin(), list.end(), k + static_cast<std::uint32_t>(node.at().x) * 1000);
    node.send_data<receive_numbers>(emulated::thread(k % 3), {0, 1, 2}, list);
  }
}

struct outcome {
  received at_target;
  std::chrono::nanoseconds time{};
  std::uint64_t messages = 0;
};

outcome run_lists(const char* ranks, const char* balancer, std::uint32_t packet_bytes) {
  config configuration;
  configuration.set("ranks", ranks);
  configuration.set("workers", "2");
  configuration.set("balancer", balancer);
  outcome result;
  std::mutex mutex;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  emulated_machine machine{.grid = {3, 2, 3}, .threads = 3, .hop = 5ns, .turn = 10ns, .handler = 100ns};
                  machine.packet_bytes = packet_bytes;
                  emulation_options options{.blocks = 4, .moves = emulated_moves::always};
                  options.finish = [&](emulated_node& node) {
                    if (node.at() != coordinates{0, 1, 2}) return;
                    const std::scoped_lock lock(mutex);
                    result.at_target = node.state<received>();
                  };
                  const emulation done = emulate(
                      rt, machine, [](emulated_node& node) { node.after<send_lists>(1us, 20u); }, options);
                  if (rt.rank().value() != 0) return;
                  const std::scoped_lock lock(mutex);
                  result.time = done.time();
                  result.messages = done.messages();
                }),
            0);
  return result;
}

/// The lists of each sender, of all lengths, on the threads that were asked for and in the order of sending for each.
void expect_all_lists(const received& received) {
  std::vector<std::uint32_t> next(18 * 3);
  for (std::uint32_t k = 0; k < next.size(); ++k) next[k] = k % 3;
  ASSERT_EQ(received.all.size(), 18U * 20);
  for (std::size_t k = 0; k < received.all.size(); ++k) {
    const coordinates& source = received.senders[k];
    std::uint32_t& number =
        next[static_cast<std::size_t>(source.x + 3 * (source.y + 2 * source.z)) * 3 + received.threads[k]];
    std::vector<std::uint32_t> expected(number * 7);
    std::iota(expected.begin(), expected.end(), number + static_cast<std::uint32_t>(source.x) * 1000);
    EXPECT_EQ(received.all[k], expected) << "list " << number << " of (" << source.x << ", " << source.y << ", "
                                         << source.z << ")";
    number += 3;
  }
}

TEST(emulated_data, of_any_length_arrives_whole_and_in_the_order_of_sending) {
  for (const std::uint32_t packet : {128U, 100U, 64U, 32U}) {
    const outcome outcome = run_lists("1", "none", packet);
    expect_all_lists(outcome.at_target);
    const std::uint64_t payload = packet == 128 ? 110 : packet >= 64 ? 46 : 14;
    std::uint64_t packets = 0;
    for (std::uint64_t k = 0; k < 20; ++k) packets += k == 0 ? 1 : (k * 28 + payload - 1) / payload;
    EXPECT_EQ(outcome.messages, 18 * packets) << packet;
  }
}

TEST(emulated_data, is_the_same_on_more_ranks_whose_blocks_move_all_the_time) {
  const outcome plain = run_lists("1", "none", 128);
  const outcome moved = run_lists("2", "rotate", 128);
  expect_all_lists(moved.at_target);
  EXPECT_EQ(moved.at_target.all, plain.at_target.all);
  EXPECT_EQ(moved.at_target.senders, plain.at_target.senders);
  EXPECT_EQ(moved.time, plain.time);
}

/// Data leave at the end of their handler: the second of two handlers may end first, and its data overtake.
void send_at_end(emulated_node& node, std::uint32_t number) {
  if (number == 1) node.charge(10us);
  node.send_data<receive_numbers>({0, 1, 2}, std::vector<std::uint32_t>{number});
}

TEST(emulated_data, that_overtakes_its_predecessor_waits_for_it) {
  config configuration;
  configuration.set("ranks", "1");
  received match;
  EXPECT_EQ(
      run(configuration,
          [&](runtime& rt) {
            const emulated_machine machine{.grid = {3, 2, 3}, .threads = 2, .hop = 5ns, .turn = 5ns, .handler = 10ns};
            emulation_options options{.blocks = 1};
            options.finish = [&](emulated_node& node) {
              if (node.at() == coordinates{0, 1, 2}) match = node.state<received>();
            };
            const auto start = [](emulated_node& node) {
              if (node.at() != coordinates{}) return;
              node.after<send_at_end>(1us, 1u);
              node.after<send_at_end>(2us, 2u);
            };
            static_cast<void>(emulate(rt, machine, start, options));
          }),
      0);
  EXPECT_EQ(match.all, (std::vector<std::vector<std::uint32_t>>{{1}, {2}}));
}

void send_badly_then_well(emulated_node& node) {
  const std::vector<std::uint32_t> list{1, 2, 3};
  EXPECT_THROW(node.send_data<receive_numbers>(emulated::thread(9), {0, 1, 2}, list), usage_error);
  EXPECT_THROW(node.send_data<receive_numbers>({0, 1, 5}, list), usage_error);
  EXPECT_THROW(node.send_data<receive_numbers>({3, 0, 2}, list), usage_error);  // counted on, this is node (0, 1, 2)
  node.send_data<receive_numbers>({0, 1, 2}, list);
}

TEST(emulated_data, that_was_refused_takes_no_other_along) {
  config configuration;
  configuration.set("ranks", "1");
  std::size_t lists = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const emulated_machine machine{.grid = {3, 2, 3}, .hop = 5ns, .turn = 5ns, .handler = 10ns};
                  emulation_options options{.blocks = 1};
                  options.finish = [&](emulated_node& node) {
                    if (node.at() == coordinates{0, 1, 2}) lists = node.state<received>().all.size();
                  };
                  static_cast<void>(emulate(
                      rt, machine, [](emulated_node& node) { node.after<send_badly_then_well>(1us); }, options));
                }),
            0);
  EXPECT_EQ(lists, 18U);
}

TEST(emulated_data, is_counted_by_sender_and_placement_also_after_a_move) {
  detail::transfer_counts counts;
  std::map<std::uint64_t, std::uint32_t> expected;
  for (std::uint32_t k = 0; k < 20'000; ++k) {
    const std::uint64_t key = detail::data_key(k * 2654435761U % 7001, k % 3 == 0 ? 0xffff : 7);
    EXPECT_EQ(counts[key], expected[key]);
    counts[key] += k;
    expected[key] += k;
  }
  writer out;
  out(counts);
  reader in(out.bytes());
  detail::transfer_counts moved;
  in(moved);
  ASSERT_TRUE(in.finish());
  for (const auto& [key, number] : expected) ASSERT_EQ(moved[key], number);
  EXPECT_EQ(moved[1], 0U) << "no key that was named";
}

TEST(emulated_data, needs_packets_of_32_bytes) {
  config configuration;
  configuration.set("ranks", "1");
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  emulated_machine machine{.grid = {2, 1, 1}, .hop = 5ns, .turn = 5ns, .handler = 10ns};
                  machine.packet_bytes = 31;
                  const auto start = [](emulated_node& node) {
                    node.send_data<receive_numbers>({0, 0, 0}, std::vector<std::uint32_t>{1, 2});
                  };
                  try {
                    static_cast<void>(emulate(rt, machine, start));
                    ADD_FAILURE() << "a packet of 31 bytes holds a head of 16 and 16 more";
                  } catch (const usage_error& error) {
                    EXPECT_NE(std::string(error.what()).find("32 bytes"), std::string::npos) << error.what();
                  }
                }),
            0);
}

}  // namespace
}  // namespace nacre::emulator
