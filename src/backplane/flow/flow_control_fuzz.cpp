// SPDX-License-Identifier: Apache-2.0
// All policies over paths that lose, double and delay, with ranks that pause and die: a campaign of seeds.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "backplane/flow/flow_test_kit.hpp"
#include "base/sanitized.hpp"

namespace nacre::flow::tests {
namespace {

using namespace std::chrono_literals;

/// NACRE_FLOW_SEEDS asks for more than a commit's share.
[[nodiscard]] std::uint64_t seeds() {
  const char* const asked = std::getenv("NACRE_FLOW_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : nacre::tests::rounds_in_one_thread(600);
}

[[nodiscard]] path random_path(rng& random) {
  path way;
  way.latency = nanoseconds(1'000 + static_cast<std::int64_t>(random.below(50'000)));
  way.late_by = nanoseconds(static_cast<std::int64_t>(random.below(2'000'000)));
  if (random.below(4) == 0) return way;  // without faults
  way.lost = random.uniform() * 0.3;
  way.doubled = random.uniform() * 0.3;
  way.late = random.uniform() * 0.3;
  return way;
}

constexpr std::uint64_t message_bytes_max = 20'000;

[[nodiscard]] link_settings random_settings(rng& random) {
  return {.bytes_per_second = 1e6 * std::pow(10, 3 * random.uniform()),
          .buffer_bytes = random.below(2) == 0 ? 0 : random.below(100'000),
          .early = nanoseconds(static_cast<std::int64_t>(random.below(300'000))),
          .patience = nanoseconds(200'000 + static_cast<std::int64_t>(random.below(1'000'000))),
          .turn_bytes = 1 + random.below(20'000),
          .small_bytes = 0,
          .permits = static_cast<std::uint32_t>(1 + (random.below(2) == 0 ? 0 : random.below(4))),
          .receive_bytes = random.below(2) == 0 ? 0 : 1 + random.below(100'000)};
}

/// Ranks send to a few receivers at random times; some pause, and at most one dies.
void run(flow_policy policy, std::uint64_t seed) {
  rng random(seed);
  const auto ranks = static_cast<std::uint32_t>(3 + random.below(6));
  const link_settings settings = random_settings(random);
  const path way = random_path(random);
  simulated_job job(ranks, settings, way, random.next());
  job.handler_time = nanoseconds(static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(500'000)));
  const std::uint64_t messages = 20 + random.below(60);
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto source = static_cast<std::uint32_t>(random.below(ranks));
    const auto target = static_cast<std::uint32_t>(random.below(random.below(3) == 0 ? ranks : 1));
    const std::uint64_t bytes = 1 + random.below(message_bytes_max);
    if (source == target) continue;
    job.after(nanoseconds(static_cast<std::int64_t>(random.below(20'000'000))),
              [&job, source, target, policy, bytes] { job.offer(source, target, policy, bytes); });
  }
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    const auto member = static_cast<std::uint32_t>(random.below(ranks));
    const auto length = nanoseconds(static_cast<std::int64_t>(random.below(20'000'000)));
    job.after(nanoseconds(static_cast<std::int64_t>(random.below(20'000'000))),
              [&job, member, length] { job.pause(member, length); });
  }
  if (random.below(3) == 0) {  // a sender: with a receiver its link ends, too
    const auto member = static_cast<std::uint32_t>(1 + random.below(ranks - 1));
    job.after(nanoseconds(static_cast<std::int64_t>(random.below(20'000'000))), [&job, member] { job.kill(member); });
  }
  while (job.now() < 20ms && job.step()) {
    ASSERT_FALSE(job.problem) << *job.problem << ", seed " << seed;
  }
  const bool done = job.run(job.now() + 20s);
  ASSERT_FALSE(job.problem) << *job.problem << ", seed " << seed;
  ASSERT_TRUE(done) << job.waiting() << " messages wait for ever, seed " << seed;
  if (settings.receive_bytes == 0 || job.epochs != 1 || way.lost != 0) return;
  // Each token may bring one message into its empty share. A token that was taken for lost may still be in use.
  ASSERT_LE(job.held_max, settings.receive_bytes + settings.permits * message_bytes_max) << "seed " << seed;
}

class campaign : public testing::TestWithParam<flow_policy> {};

TEST_P(campaign, every_message_of_a_live_rank_leaves_and_no_token_has_two_holders) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    run(GetParam(), seed);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(flow, campaign, testing::Values(flow_policy::token, flow_policy::credit, flow_policy::slot),
                         [](const auto& param) { return std::string(name_of(param.param)); });

}  // namespace
}  // namespace nacre::flow::tests
