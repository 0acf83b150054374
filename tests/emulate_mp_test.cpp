// SPDX-License-Identifier: Apache-2.0
// The program emulate computes the same over every transport: the same values to the last bit, the same virtual time.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "launched.hpp"
#include "transports.hpp"

namespace nacre::tests {
namespace {

/// The report of a run of the program, started by these words; null when it fails.
nlohmann::json emulated(std::vector<std::string> words, const std::vector<std::string>& options) {
  std::vector<std::string> command{"timeout", "-k", "5", "540"};
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {NACRE_BIN_DIR "/emulate", "--json", "-", "--nacre.workers=1"});
  command.insert(command.end(), options.begin(), options.end());
  const outcome got = launched(command).end();
  EXPECT_EQ(code_of(got), 0) << got.output << got.errors;
  return nlohmann::json::parse(got.output, nullptr, false);
}

class emulate_program : public testing::TestWithParam<const char*> {
 protected:
  void expect_equal_over_ranks(const std::vector<std::string>& options) {
    const std::string transport = GetParam();
    const bench::launcher start = start_of(transport, 2);
    if (!start.missing.empty()) GTEST_SKIP() << start.missing;
    ignore_foreign_leaks(transport);
    const nlohmann::json one = emulated({}, options);
    const nlohmann::json two = emulated(start.words, options);
    for (const char* key : {"digest", "predicted_us", "messages", "handlers", "hops", "hops_histogram"}) {
      ASSERT_TRUE(one.contains(key)) << key;
      EXPECT_EQ(one[key], two[key]) << key;
    }
    std::uint64_t messages = 0, hops = 0;
    for (const auto& [program, packets] :
         two["hops_histogram"].get<std::vector<std::pair<std::uint64_t, std::uint64_t>>>()) {
      messages += packets;
      hops += program * packets;
    }
    EXPECT_EQ(messages, two["messages"]);
    EXPECT_EQ(hops, two["hops"]);
    EXPECT_EQ(two["host_workers"], 2);
    EXPECT_TRUE(two["error"].is_null());
  }
};

TEST_P(emulate_program, relaxes_equally_on_two_ranks) {
  expect_equal_over_ranks({"--program=jacobi", "--grid=6x5x4", "--steps=8"});
}

TEST_P(emulate_program, moves_atoms_equally_on_two_ranks) {
  expect_equal_over_ranks({"--program=md", "--grid=4x4x3", "--steps=20", "--topology=torus"});
}

INSTANTIATE_TEST_SUITE_P(over, emulate_program, testing::Values("shm", "tcp"));

}  // namespace
}  // namespace nacre::tests
