// SPDX-License-Identifier: Apache-2.0
// Blocks that agree on windows, under every order of messages that a seed draws.
#include "emulator/window_protocol.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace nacre::emulator {
namespace {

/// Blocks as counts of events by window. Running a window makes events of later ones, here and elsewhere.
struct simulated_blocks {
  struct block {
    std::map<std::uint64_t, std::uint32_t> events;
    window_gate gate;
    std::uint64_t ran_up_to = 0;
  };
  struct bundle {
    std::uint32_t target;
    std::uint64_t round;
    std::vector<std::uint64_t> windows;
  };
  struct grant {
    std::uint32_t target;
    std::uint64_t window;
    std::uint32_t bundles;
  };
  explicit simulated_blocks(std::uint64_t seed)
      : random(seed), blocks(1 + random() % 5), coordinator(static_cast<std::uint32_t>(blocks.size())) {}

  std::mt19937_64 random;
  std::vector<block> blocks;
  window_coordinator coordinator;
  std::vector<bundle> bundles;
  std::vector<grant> grants;
  std::uint64_t created = 0, ran = 0, budget = 300;

  void report(std::uint32_t number, const std::map<std::uint32_t, std::vector<std::uint64_t>>& sent) {
    block& block = blocks[number];
    std::uint64_t first = block.events.empty() ? window_coordinator::no_window : block.events.begin()->first;
    std::vector<std::uint32_t> values;
    for (const auto& [target, windows] : sent) {
      values.push_back(target);
      for (const std::uint64_t window : windows) first = std::min(first, window);
      bundles.push_back({target, block.gate.round(), windows});
    }
    if (!coordinator.report(first, values) || coordinator.window() == window_coordinator::no_window) return;
    for (std::uint32_t k = 0; k < blocks.size(); ++k) {
      grants.push_back({k, coordinator.window(), coordinator.bundles_for(k)});
    }
  }
  void run_if_ready(std::uint32_t number) {
    block& block = blocks[number];
    const auto window = block.gate.pass();
    if (!window) return;
    ASSERT_TRUE(block.events.empty() || block.events.begin()->first >= *window) << "an event came too late";
    block.ran_up_to = *window;
    std::map<std::uint32_t, std::vector<std::uint64_t>> sent;
    for (std::uint32_t count = block.events[*window]; count > 0; --count) {
      ++ran;
      for (std::uint64_t more = random() % 3; more > 0 && created < budget; --more, ++created) {
        const auto target = static_cast<std::uint32_t>(random() % blocks.size());
        const std::uint64_t instant = *window + 1 + random() % 4;
        if (target == number) {
          ++block.events[instant];
        } else {
          sent[target].push_back(instant);
        }
      }
    }
    block.events.erase(*window);
    report(number, sent);
  }
  void deliver_one() {
    const std::size_t choice = random() % (bundles.size() + grants.size());
    if (choice < bundles.size()) {
      const bundle one = bundles[choice];
      bundles.erase(bundles.begin() + static_cast<std::ptrdiff_t>(choice));
      for (const std::uint64_t window : one.windows) {
        ASSERT_GT(window, blocks[one.target].ran_up_to) << "an event came after its window";
        ++blocks[one.target].events[window];
      }
      blocks[one.target].gate.bundle(one.round);
      return run_if_ready(one.target);
    }
    const grant one = grants[choice - bundles.size()];
    grants.erase(grants.begin() + static_cast<std::ptrdiff_t>(choice - bundles.size()));
    blocks[one.target].gate.grant(one.window, one.bundles);
    run_if_ready(one.target);
  }
};

TEST(window_protocol, every_event_is_there_when_its_window_runs_whatever_is_delivered_first) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    simulated_blocks all(seed);
    for (std::uint32_t k = 0; k < all.blocks.size(); ++k) {
      all.blocks[k].events[1 + all.random() % 3] = static_cast<std::uint32_t>(1 + all.random() % 4);
      all.created += all.blocks[k].events.begin()->second;
    }
    for (std::uint32_t k = 0; k < all.blocks.size(); ++k) all.report(k, {});
    while (!all.bundles.empty() || !all.grants.empty()) {
      all.deliver_one();
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_EQ(all.ran, all.created) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::emulator
