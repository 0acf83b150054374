// SPDX-License-Identifier: Apache-2.0
// The matrix: every transport with 2, 3, 4 and 8 processes, each cell one job that goes through every scenario.
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "mobile.hpp"
#include "presets.hpp"
#include "report.hpp"
#include "scenarios/scenarios.hpp"
#include "share.hpp"
#include "steal.hpp"
#include "transport/shm/forbid_test_kit.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

// ---- a rank

/// A whole tree, which begins on rank 0 and is shared out by stealing.
void count_a_tree(runtime& rt, std::uint64_t) {
  uts::mobile_options options{.params = uts::find_preset("T1").params};
  if (sanitized) options.params.depth = 6;  // of the same series, with 16,000 nodes
  rt.enable_balancing(true);
  const uts::search_result result = uts::search_with_mobile_objects(rt, options);
  rt.enable_balancing(false);
  EXPECT_EQ(uts::judge(result), uts::verdict::match) << result.counts.nodes << " nodes";
}

/// The same by messages between ranks: stealing under a token, and a queue with a manager.
template <auto Search>
void count_a_tree_directly(runtime& rt, std::uint64_t) {
  uts::rank_search_options options{.params = uts::find_preset("T1").params};
  options.params.depth = sanitized ? 6 : 8;  // of the same series
  const uts::search_result result = Search(rt, options);
  EXPECT_EQ(uts::judge(result), uts::verdict::match) << result.counts.nodes << " nodes";
}

constexpr std::array tree_scenarios{
    scenario{"uts_counts_a_published_tree", count_a_tree},
    scenario{"uts_counts_one_by_stealing", count_a_tree_directly<uts::search_by_stealing>},
    scenario{"uts_counts_one_by_sharing", count_a_tree_directly<uts::search_by_sharing>}};

/// All ranks go through these together; false as soon as one has failed. Rank 0 says where they are, for jobs that
/// hang.
bool hold_all(runtime& rt, std::span<const scenario> all) {
  for (const scenario& each : all) {
    if (rt.rank().value() == 0) {
      std::printf("%s\n", each.title);
      std::fflush(stdout);
    }
    {
      const testing::ScopedTrace place(each.title, static_cast<int>(rt.rank().value()), "by this rank");
      each.run(rt, rt.size());
    }
    rt.wait_quiescence();
    if (rt.all_reduce(testing::Test::HasFailure(), std::logical_or<>{})) return false;
  }
  return true;
}

void forbid_reading_peers() {
  ASSERT_TRUE(transport::shm::forbid(SYS_process_vm_readv, transport::shm::filter_scope::this_process));
  char one = 0, other = 0;
  iovec target{&one, 1}, source{&other, 1};
  ASSERT_EQ(process_vm_readv(getpid(), &target, 1, &source, 1, 0), -1) << "the filter does nothing";
}

/// What the launcher starts, which is this program: goes through everything, and leaves main with messages under way.
int act_as_rank(int argc, char** argv) {
  config configuration = read_config(argc, argv);
  const auto preset = [&configuration](const char* name, const std::string& value) {
    configuration.set(name, value, setting_source::program);
  };
  preset("balancer", "steal");
  preset("receive_memory", "256KiB");
  preset("send_memory", "256KiB");
  if (configuration.get_string("transport") == "auto") {  // ranks with odd numbers are on another host
    preset("auto.host", std::atoi(std::getenv("NACRE_JOB_RANK")) % 2 == 0 ? "even" : "odd");
  }
  std::vector<std::span<const scenario>> chosen{buffer_scenarios()};
  if (std::string_view(argv[1]) == "--as-rank-that-reads-no-peer") {
    forbid_reading_peers();
  } else {
    chosen.clear();
    for (const auto subject : subjects) chosen.push_back(subject());
    chosen.emplace_back(tree_scenarios);
  }
  rank_id own_rank;
  const int code = run(configuration, [&](runtime& rt) {
    own_rank = rt.rank();
    rt.enable_balancing(false);
    for (const auto all : chosen) {
      if (!hold_all(rt, all)) return;
    }
    fresh_board(rt);
    drop_futures(rt);
    start_chain(rt);
  });
  if (code == 0 && !testing::Test::HasFailure()) {
    EXPECT_EQ(board_of(own_rank).seen, chain_visits) << "leaving main has not waited for what was under way";
  }
  return code != 0 ? code : (testing::Test::HasFailure() ? 1 : 0);
}

// ---- the cells

/// Starts that many of this program; what went wrong, if anything did. A job that hangs is ended just before its test.
testing::AssertionResult job(const bench::launcher& start, const char* as) {
  std::vector<std::string> command{"timeout", "-k", "5", "540"};
  command.insert(command.end(), start.words.begin(), start.words.end());
  command.insert(command.end(), {own_path(), as});
  const outcome got = launched(command).end();
  if (code_of(got) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (code_of(got) == 124 ? "hangs" : "fails") << " in the last of\n"
                                     << got.output << got.errors;
}

struct cell {
  const char* transport;
  int ranks;
  friend void PrintTo(const cell& cell, std::ostream* out) { *out << cell.transport << "_" << cell.ranks << "_ranks"; }
};

class matrix : public testing::TestWithParam<cell> {};

TEST_P(matrix, goes_through_every_scenario) {
  const auto [transport, ranks] = GetParam();
  const bench::launcher start = start_of(transport, ranks);
  if (!start.missing.empty()) GTEST_SKIP() << start.missing;
  ignore_foreign_leaks(transport);
  EXPECT_TRUE(job(start, "--as-rank"));
}

std::vector<cell> cells() {
  std::vector<cell> all;
  const std::vector<int> numbers = sanitized ? std::vector{3, 8} : std::vector{2, 3, 4, 8};
  for (const char* transport : {"shm", "tcp", "auto", "ucx", "openmpi", "mpich"}) {
    for (const int ranks : numbers) all.push_back({transport, ranks});
  }
  for (const int ranks : {2, 8}) all.push_back({"udp", ranks});
  return all;
}

INSTANTIATE_TEST_SUITE_P(over, matrix, testing::ValuesIn(cells()), testing::PrintToStringParamName());

TEST(messages_between_processes, travel_in_fragments_where_the_kernel_forbids_to_read_a_peer) {
  EXPECT_TRUE(job(start_of("shm", 2), "--as-rank-that-reads-no-peer"));
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]).starts_with("--as-rank")) return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
