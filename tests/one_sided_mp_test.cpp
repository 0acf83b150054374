// SPDX-License-Identifier: Apache-2.0
// One-sided memory that the transport copies: under many seeds on a simulated machine, and between processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>
#include <nlohmann/json.hpp>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "scenarios/scenarios.hpp"
#include "transport/shm/forbid_test_kit.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

constexpr const char* nearly_all = "1KiB";  // so short pieces are copied

/// NACRE_ONE_SIDED_SEEDS says how many seeds, for long runs.
TEST(one_sided_simulated, holds_in_any_order_and_whatever_comes_late) {
  const char* const wish = std::getenv("NACRE_ONE_SIDED_SEEDS");
  const std::uint64_t seeds = wish != nullptr ? std::strtoull(wish, nullptr, 10) : (sanitized ? 5 : 40);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    config configuration;
    configuration.set("transport", "sim");
    configuration.set("ranks", std::to_string(2 + seed % 3));
    configuration.set("workers", "1");
    configuration.set("seed", std::to_string(seed));
    configuration.set("direct_min", nearly_all);
    configuration.set("sim.late_probability", seed % 2 == 0 ? "0.3" : "0");
    const auto main = [&](runtime& rt) {
      for (const auto subject : {memory_scenarios, withdrawal_scenarios}) {
        for (const scenario& each : subject()) each.run(rt, seed), rt.wait_quiescence();
      }
    };
    ASSERT_EQ(run(configuration, main), 0);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

/// Each rank puts much to the next one, and gets as much from the one before.
constexpr std::size_t much = 8 << 20;
void move_much(runtime& rt) {
  const std::uint32_t self = rt.rank().value(), ranks = rt.size();
  std::vector<std::uint32_t> values(much / sizeof self, self), from_before(values.size());
  const auto exposed = rt.expose(std::span(values));
  std::vector<remote_memory<std::uint32_t>> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) all.push_back(rt.broadcast(exposed, rank_id(rank)));
  const std::uint32_t previous = (self + ranks - 1) % ranks;
  rt.get(all[previous], 0, std::span(from_before)).get();
  EXPECT_EQ(from_before, std::vector(values.size(), previous));
  rt.barrier();
  rt.put(all[(self + 1) % ranks], 0, std::span<const std::uint32_t>(std::vector(values.size(), self))).get();
  rt.barrier();
  EXPECT_EQ(values, from_before);
  rt.withdraw(exposed);
}

/// What the launcher starts, which is this program.
int act_as_rank(int argc, char** argv) {
  const config configuration = read_config(argc, argv);
  const std::string_view part = argv[1];
  const auto forbid_to_write = [] {
    EXPECT_TRUE(transport::shm::forbid(SYS_process_vm_writev, transport::shm::filter_scope::this_process));
  };
  if (part == "--as-rank-that-writes-no-peer") forbid_to_write();
  const int code = run(configuration, [&](runtime& rt) {
    if (part == "--as-rank-that-writes-no-peer-any-more") {
      move_much(rt);
      forbid_to_write();
    }
    if (part != "--as-rank-that-goes-through-all") return move_much(rt);
    for (std::uint64_t seed = 1; seed <= (sanitized ? 2 : 10); ++seed) {
      for (const scenario& each : withdrawal_scenarios()) each.run(rt, seed), rt.wait_quiescence();
    }
  });
  return code != 0 || testing::Test::HasFailure() ? 1 : 0;
}

class one_sided : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(over, one_sided, testing::ValuesIn(and_ucx({"shm"})),
                         [](const auto& given) { return given.param; });

void run_ranks(const std::string& transport, const std::string& part) {
  const bench::launcher start = start_of(transport, 3);
  ASSERT_TRUE(start.missing.empty()) << start.missing;
  ignore_foreign_leaks(transport);
  std::vector<std::string> command{"timeout", "-k", "5", "540"};
  command.insert(command.end(), start.words.begin(), start.words.end());
  command.insert(command.end(), {own_path(), part, std::string("--nacre.direct_min=") + nearly_all});
  const outcome got = launched(command).end();
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
}

TEST_P(one_sided, holds_when_memory_is_given_back_by_either_side) {
  run_ranks(GetParam(), "--as-rank-that-goes-through-all");
}

/// How many bytes all messages of such a job have.
std::uint64_t bytes_in_messages(const std::string& transport, const std::string& part) {
  const std::string path = testing::TempDir() + "nacre_one_sided_mp_test." + transport + part + ".json";
  ::setenv("NACRE_SUMMARY_JSON", path.c_str(), 1);
  run_ranks(transport, part);
  ::unsetenv("NACRE_SUMMARY_JSON");
  std::ifstream file(path);
  const auto read = nlohmann::json::parse(file);
  std::filesystem::remove(path);
  std::uint64_t sum = 0;
  for (const auto& row : read["ranks"]) sum += row["bytes_sent"].get<std::uint64_t>();
  return sum;
}

TEST_P(one_sided, takes_large_memory_out_of_messages) {
  EXPECT_LT(bytes_in_messages(GetParam(), "--as-rank"), much / 10);
}

TEST(one_sided_over_shm, goes_in_messages_where_the_kernel_forbids_to_write_a_peer) {
  EXPECT_GT(bytes_in_messages("shm", "--as-rank-that-writes-no-peer"), 6 * much);
}

TEST(one_sided_over_shm, goes_on_in_messages_when_the_kernel_forbids_to_write_a_peer_in_the_middle) {
  EXPECT_GT(bytes_in_messages("shm", "--as-rank-that-writes-no-peer-any-more"), 3 * much);
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]).starts_with("--as-rank")) return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
