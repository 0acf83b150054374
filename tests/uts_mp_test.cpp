// SPDX-License-Identifier: Apache-2.0
// The program uts counts published trees right, with any number of ranks and workers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "shell_command.hpp"
#include "transports.hpp"

namespace {

using nacre::tests::sanitized;

using outcome = nacre::tests::shell_outcome;

outcome run(const std::string& command) { return nacre::tests::run_in_shell(command); }

/// A way to run uts: what stands before and behind the program's name.
struct way {
  const char* title;
  const char* prefix;
  const char* suffix;
  friend void PrintTo(const way& w, std::ostream* out) { *out << w.title; }
};

constexpr way ways[] = {
    {"plain_loop", "", "--sequential"},
    {"one_rank_one_worker", "", "--nacre.workers=1"},
    {"one_rank_two_workers", "", "--nacre.workers=2"},
    {"one_rank_four_workers", "", "--nacre.workers=4"},
    {"two_ranks", "", "--nacre.ranks=2 --nacre.workers=1"},
    {"two_ranks_two_workers", "", "--nacre.ranks=2 --nacre.workers=2"},
    {"four_ranks_two_workers", "", "--nacre.ranks=4 --nacre.workers=2"},
    {"eight_ranks_four_workers", "", "--nacre.ranks=8 --nacre.workers=4"},
    {"two_ranks_diffusion", "", "--nacre.ranks=2 --nacre.balancer=diffusion"},
    {"two_ranks_fifo", "", "--nacre.ranks=2 --nacre.workers=2 --nacre.scheduler=fifo"},
    {"two_ranks_lifo", "", "--nacre.ranks=2 --nacre.workers=2 --nacre.scheduler=lifo"},
    {"two_ranks_one_queue_each", "", "--nacre.ranks=2 --nacre.workers=2 --nacre.scheduler=shared"},
    {"three_processes_lifo", "nacre run -n 3", "--nacre.workers=2 --nacre.scheduler=lifo"},
    {"simulated_lifo", "", "--nacre.transport=sim --nacre.ranks=5 --nacre.workers=3 --nacre.scheduler=lifo"},
    {"simulated_one_queue", "", "--nacre.transport=sim --nacre.ranks=5 --nacre.workers=3 --nacre.scheduler=shared"},
    {"dedicated_poll_loop", "", "--nacre.ranks=2 --nacre.progress=dedicated"},
    {"three_processes_lifeline", "nacre run -n 3", "--nacre.balancer=lifeline"},
    {"three_processes_hierarchical", "nacre run -n 3",
     "--nacre.balancer=hierarchical --nacre.balance.hierarchical.group=2"},
    {"three_processes_diffusion", "nacre run -n 3", "--nacre.balancer=diffusion"},
    {"three_processes_gossip", "nacre run -n 3", "--nacre.balancer=gossip"},
    {"three_processes_greedy_refine", "nacre run -n 3", "--nacre.balancer=greedy_refine"},
    {"three_processes_share", "nacre run -n 3", "--nacre.balancer=share"},
    {"three_processes_master_worker", "nacre run -n 3", "--nacre.balancer=master_worker"},
    {"three_processes_rotate", "nacre run -n 3", "--nacre.balancer=rotate"},
    {"three_processes_random", "nacre run -n 3", "--nacre.balancer=random"},
    {"one_process", "nacre run -n 1", ""},
    {"four_processes", "nacre run -n 4", ""},
    {"three_processes_without_single_copies", "nacre run -n 3",
     "--nacre.shm.single_copy=off --nacre.shm.ring_bytes=4KiB"},
    {"three_processes_over_udp", "nacre run -n 3 --transport udp", ""},
    {"three_processes_over_udp_in_small_packets", "nacre run -n 3 --transport udp", "--nacre.udp.mtu=1500"},
    {"three_processes_over_ucx_by_sockets", "nacre run -n 3 --transport ucx -x UCX_TLS=tcp", ""},
    {"simulated_1", "", "--nacre.transport=sim --nacre.ranks=1"},
    {"simulated_2", "", "--nacre.transport=sim --nacre.ranks=2"},
    {"simulated_7", "", "--nacre.transport=sim --nacre.ranks=7"},
    {"simulated_64", "", "--nacre.transport=sim --nacre.ranks=64"},
    {"stealing_without_options", "", "--mode steal"},
    {"four_processes_stealing", "nacre run -n 4", "--mode steal --chunk 4 --interval 256"},
    {"four_processes_stealing_nearby", "nacre run -n 4", "--mode steal --near 2"},
    {"simulated_16_stealing_nearby", "",
     "--mode steal --near 2 --nacre.transport=sim --nacre.ranks=16 --nacre.sim.ranks_per_host=4"},
    {"sharing_without_options", "", "--mode share"},
    {"four_processes_sharing", "nacre run -n 4", "--mode share --chunk 4 --interval 256"},
    {"simulated_64_stealing", "", "--mode steal --nacre.transport=sim --nacre.ranks=64"},
    {"simulated_64_sharing", "", "--mode share --nacre.transport=sim --nacre.ranks=64"},
    {"simulated_175", "", "--nacre.transport=sim --nacre.ranks=175"},
};

bool over_ucx(const way& way) { return std::string_view(way.title).find("ucx") != std::string_view::npos; }

outcome run_uts(const way& way, const std::string& arguments) {
  const std::string bin = NACRE_BIN_DIR "/";
  const std::string previous = way.prefix[0] == '\0' ? "" : bin + way.prefix + " ";
  if (over_ucx(way)) nacre::tests::ignore_foreign_leaks("ucx");
  return run(previous + bin + "uts --quiet --json " + arguments + " " + way.suffix);
}

class uts_program : public testing::TestWithParam<way> {};

TEST_P(uts_program, counts_a_tree_right) {
  const std::string missing = over_ucx(GetParam()) ? nacre::tests::start_of("ucx", 3).missing : "";
  if (!missing.empty()) GTEST_SKIP() << missing;
  // Under a sanitizer a smaller tree of the same series: 16000 nodes at depth 6, from the paper's seed 19.
  const std::string tree = sanitized ? "--type geometric --shape fixed --depth 6 --branching 4 --seed 19" : "--tree T1";
  const outcome got = run_uts(GetParam(), tree);
  ASSERT_EQ(got.exit_code, 0) << got.output;
  EXPECT_EQ(nlohmann::json::parse(got.output).at("nodes"), sanitized ? 16000 : 4130071);
}

INSTANTIATE_TEST_SUITE_P(every_way, uts_program, testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.title); });

class published_tree : public testing::TestWithParam<const char*> {};

TEST_P(published_tree, matches) {
  if (sanitized) {
    // The shapes are covered by uts_tests; a hundred million nodes under a sanitizer take minutes and show nothing
    // more.
    const outcome got = run_uts(ways[2], "--type balanced --depth 6 --branching 4");
    EXPECT_EQ(got.exit_code, 0) << got.output;
    return;
  }
  const outcome got = run_uts(ways[2], std::string("--tree ") + GetParam());
  ASSERT_EQ(got.exit_code, 0) << got.output;
  EXPECT_EQ(nlohmann::json::parse(got.output).at("verdict"), "match");
}

INSTANTIATE_TEST_SUITE_P(every_tree, published_tree, testing::Values("T2", "T3", "T4", "T5", "T1L", "T3L"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
