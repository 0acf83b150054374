// SPDX-License-Identifier: Apache-2.0
// Random node programs on random machines, against an emulator that sorts all events of all nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "emulator/brute_force_emulator.hpp"

namespace nacre::emulator {
namespace {

/// One history a node: every handler mixes its time, thread and key into that of its node, in the order of the node.
std::vector<std::uint64_t>* histories = nullptr;
std::uint64_t program_seed = 0;

void act(emulated_node& node, std::uint32_t key);

struct wide {
  std::array<std::uint32_t, 10> words;
};
void act_wide(emulated_node& node, wide payload) { act(node, payload.words[9]); }

void act(emulated_node& emulated_node, std::uint32_t key) {
  const coordinates& g = emulated_node.machine().grid;
  const auto node =
      static_cast<std::size_t>(emulated_node.at().x + g.x * (emulated_node.at().y + g.y * emulated_node.at().z));
  std::uint64_t& history = (*histories)[node];
  history = mix(history, static_cast<std::uint64_t>(emulated_node.now().count()), emulated_node.thread(), key);
  for (const random_action& one : random_actions(emulated_node.machine(), program_seed, history, key)) {
    const std::chrono::nanoseconds delay(one.delay);
    const emulated::placement placement(one.thread);
    wide payload{};
    payload.words[9] = one.key;
    switch (one.kind) {
      case random_action::charge:
        emulated_node.charge(delay);
        break;
      case random_action::task:
        emulated_node.after<act>(placement, delay, one.key);
        break;
      case random_action::packet:
        emulated_node.send_after<act>(placement, delay, one.target, one.key);
        break;
      case random_action::wide_packet:
        emulated_node.send<act_wide>(placement, one.target, payload);
        break;
    }
  }
}

struct outcome_of_run {
  std::vector<std::uint64_t> histories;
  emulation_counts counts;
  critical_path path;
};

outcome_of_run run_emulator(const emulated_machine& machine, const random_job& job, emulated_order order) {
  outcome_of_run result;
  result.histories.assign(machine.nodes(), 1);
  histories = &result.histories;
  config configuration;
  configuration.set("transport", job.simulated ? "sim" : "inproc");
  configuration.set("ranks", std::to_string(job.ranks));
  configuration.set("workers", std::to_string(job.workers));
  configuration.set("balancer", job.rotate ? "rotate" : "none");
  configuration.set("seed", std::to_string(job.seed));
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto done = emulate(
                      rt, machine,
                      [](emulated_node& node) {
                        if (const std::uint32_t key = first_key(node.machine(), program_seed, node.at()))
                          act(node, key);
                      },
                      {.blocks = job.blocks, .critical_path = true, .order = order, .moves = emulated_moves::always});
                  if (rt.rank().value() != 0) return;
                  result.counts = done.counts();
                  result.path = done.path();
                }),
            0);
  return result;
}

void compare(std::uint64_t seed, random_links links, emulation_counts& sum) {
  const emulated_machine machine = random_machine(seed, links);
  random_job job = random_job_of(seed);
  // Windows of a hop are many: threads that wait for each other are left to a quarter of the seeds.
  if (links == random_links::contended && seed % 4 != 0) job.simulated = true;
  program_seed = seed;
  brute_force oracle(machine, seed);
  oracle.run();
  const outcome_of_run got = run_emulator(machine, job, emulated_order::exact);
  ASSERT_EQ(got.histories, oracle.histories) << "seed " << seed;
  ASSERT_EQ(got.counts.end.count(), oracle.end) << "seed " << seed;
  ASSERT_EQ(got.counts.events, oracle.events) << "seed " << seed;
  ASSERT_EQ(got.counts.messages, oracle.messages) << "seed " << seed;
  ASSERT_EQ(got.counts.link_waits, oracle.link_waits) << "seed " << seed;
  ASSERT_EQ(got.counts.link_wait.count(), oracle.link_wait) << "seed " << seed;
  const brute_force::path path = oracle.critical_path();
  ASSERT_TRUE(got.path.known);
  ASSERT_EQ(got.path.handlers, path.handlers) << "seed " << seed;
  ASSERT_EQ(got.path.waits, path.waits) << "seed " << seed;
  ASSERT_EQ(got.path.running.count(), path.running) << "seed " << seed;
  ASSERT_EQ(got.path.under_way.count(), path.under_way) << "seed " << seed;
  ASSERT_EQ(got.path.longest.size(), std::min<std::uint64_t>(path.handlers, 20));
  sum.events += got.counts.events;
  sum.link_waits += got.counts.link_waits;
  if (seed % 5 != 0) return;
  random_job alone = job;
  alone.blocks = 1;
  const outcome_of_run arrived = run_emulator(machine, alone, emulated_order::arrival);
  ASSERT_EQ(arrived.histories, oracle.histories) << "one block gets nothing late; seed " << seed;
  ASSERT_EQ(arrived.counts.end.count(), oracle.end) << "seed " << seed;
}

constexpr std::uint64_t shares = 16;  // so that they may run beside each other

class emulated_random_programs : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// Compares the programs of one share of the seeds; returns their counts.
  static emulation_counts compare_share(random_links links) {
    const char* const asked = std::getenv("NACRE_EMULATION_SEEDS");
    const std::uint64_t seeds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : tests::sanitized ? 80 : 2000;
    emulation_counts sum;
    for (std::uint64_t seed = 1 + GetParam(); seed <= seeds && !HasFatalFailure(); seed += shares) {
      compare(seed, links, sum);
    }
    EXPECT_GT(sum.events, 20 * seeds / shares);
    return sum;
  }
};

TEST_P(emulated_random_programs, have_the_events_and_times_that_sorting_all_events_gives) {
  EXPECT_EQ(compare_share(random_links::open).link_waits, 0U);
}

TEST_P(emulated_random_programs, wait_for_busy_links_as_sorting_all_events_says) {
  const emulation_counts sum = compare_share(random_links::contended);
  EXPECT_GT(sum.link_waits, sum.events / 10);
}

INSTANTIATE_TEST_SUITE_P(share, emulated_random_programs, testing::Range(std::uint64_t{0}, shares));

}  // namespace
}  // namespace nacre::emulator
