// SPDX-License-Identifier: Apache-2.0
// Eight ranks on the cores that two had: the same work must not cost them much more, for those that wait let others
// run.
//
// What counts is processor time of all ranks, without that of starting them: it does not depend on what else runs here.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "mobile.hpp"
#include "presets.hpp"
#include "report.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

constexpr std::uint64_t messages = 800'000;  // of all ranks
constexpr std::uint64_t hops = 2'000;

/// Ranks that spin while others have work cost ten times as much and more.
constexpr double ratio_max = 5;
constexpr double seconds_a_hop_max = 2e-3;
constexpr double lone_seconds = 0.2;
constexpr double lone_seconds_max = 6 * lone_seconds;

// ---- a rank

/// Of processors: those of the whole process (RUSAGE_SELF) or of this thread (RUSAGE_THREAD).
double seconds_of(int whom) {
  rusage use{};
  getrusage(whom, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

using cargo = std::array<std::uint64_t, 4>;
void sink(cargo) {}

void scatter(runtime& rt) {
  const std::uint32_t others = rt.size() - 1;
  for (std::uint64_t number = 0; number < messages / rt.size(); ++number) {
    const auto offset = static_cast<std::uint32_t>(1 + number % others);
    rt.send<sink>(rank_id((rt.rank().value() + offset) % rt.size()), cargo{number});
  }
  rt.wait_quiescence();
}

void count_a_tree(runtime& rt) {
  const uts::mobile_options options{.params = uts::find_preset("T1").params};
  EXPECT_EQ(uts::judge(uts::search_with_mobile_objects(rt, options)), uts::verdict::match);
}

/// One handler computes, while all others have nothing to do for as long as that takes.
void compute() {
  const double begin = seconds_of(RUSAGE_THREAD);
  while (seconds_of(RUSAGE_THREAD) - begin < lone_seconds) continue;
}

void work_alone(runtime& rt) {
  if (rt.rank().value() == 0) rt.send<compute>(rank_id(rt.size() - 1));
  rt.wait_quiescence();
}

/// One message that goes from rank to rank, while all others have nothing to do.
void hop(context& ctx, std::uint64_t left) {
  if (left != 0) ctx.send<hop>(rank_id((ctx.rank().value() + 1) % ctx.size()), left - 1);
}

void pass_on(runtime& rt) {
  if (rt.rank().value() == 0) rt.send<hop>(rt.rank(), hops);
  rt.wait_quiescence();
}

/// Collective: what the ranks have used for it together.
double cost_of(runtime& rt, void (*work)(runtime&)) {
  rt.barrier();
  const double previous = seconds_of(RUSAGE_SELF);
  work(rt);
  return rt.all_reduce(seconds_of(RUSAGE_SELF) - previous, std::plus<>{});
}

/// What the launcher starts, which is this program.
int act_as_rank(int argc, char** argv) {
  config configuration = read_config(argc, argv);
  configuration.set("balancer", "steal", setting_source::program);
  const int code = run(configuration, [](runtime& rt) {
    const double scattered = cost_of(rt, scatter), tree = cost_of(rt, count_a_tree), chain = cost_of(rt, pass_on),
                 lone = cost_of(rt, work_alone);
    if (rt.rank().value() != 0) return;
    std::printf(
        "%s\n",
        nlohmann::json{{"messages", scattered}, {"tree", tree}, {"chain", chain}, {"lone", lone}}.dump().c_str());
  });
  return code != 0 ? code : (testing::Test::HasFailure() ? 1 : 0);
}

// ---- the tests

class oversubscription : public testing::TestWithParam<std::string> {
 protected:
  /// What rank 0 of a job has printed; nothing when it failed.
  static nlohmann::json costs_on(int ranks) {
    std::vector<std::string> command{"timeout", "-k", "5", "40"};
    const bench::launcher start = start_of(GetParam(), ranks);
    command.insert(command.end(), start.words.begin(), start.words.end());
    command.insert(command.end(), {own_path(), "--as-rank"});
    const outcome got = launched(command).end();
    EXPECT_EQ(code_of(got), 0) << ranks << " ranks" << (code_of(got) == 124 ? " do not come to an end: " : " fail: ")
                               << got.output << got.errors;
    const auto costs =
        nlohmann::json::parse(got.output.substr(std::min(got.output.find('{'), got.output.size())), nullptr, false);
    return costs;
  }
};

TEST_P(oversubscription, eight_ranks_take_little_more_of_the_processors_than_two_for_the_same_work) {
  if (const std::string missing = start_of(GetParam(), 8).missing; !missing.empty()) GTEST_SKIP() << missing;
  ignore_foreign_leaks(GetParam());
  const nlohmann::json two = costs_on(2), eight = costs_on(8);
  ASSERT_TRUE(two.is_object() && eight.is_object());
  std::printf("2 ranks: %s, 8 ranks: %s\n", two.dump().c_str(), eight.dump().c_str());
  for (const char* work : {"messages", "tree"}) {
    EXPECT_LT(eight.at(work).get<double>(), ratio_max * two.at(work).get<double>())
        << work << ": ranks keep each other from working";
  }
  EXPECT_LT(eight.at("lone").get<double>(), lone_seconds_max)
      << "ranks that have nothing to do take several times as much of the processors as the one that computes";
  EXPECT_LT(eight.at("chain").get<double>(), hops * seconds_a_hop_max)
      << "ranks that have nothing to do keep the core from the one that has";
}

INSTANTIATE_TEST_SUITE_P(over, oversubscription, testing::Values("shm", "tcp", "auto", "ucx", "openmpi", "mpich"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "--as-rank") return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
