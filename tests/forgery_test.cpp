// SPDX-License-Identifier: Apache-2.0
// Seeded forgeries against every decoder behind a valid frame, and the kept inputs of libFuzzer once more.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "forgery/forged_messages.hpp"

namespace nacre::forgery {
namespace {

std::vector<std::uint8_t> random_bytes(std::uint64_t seed) {
  rng random(seed);
  std::vector<std::uint8_t> bytes(random.below(400));
  for (auto& each : bytes) each = static_cast<std::uint8_t>(random.next());
  return bytes;
}

TEST(forgery, a_rank_takes_or_refuses_whatever_its_peers_send_and_lives) {
  std::uint64_t taken = 0;
  std::set<std::string> reasons;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::uint64_t seed = 0;
  for (; seed < tests::rounds_in_one_thread(300) || std::chrono::steady_clock::now() < end; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<std::uint8_t> bytes = random_bytes(seed);
    choices choices(bytes);
    std::vector<std::string> refusals;
    taken += forge_messages(choices, &refusals);
    for (const std::string& each : refusals) reasons.insert(each.substr(each.find(' ', 5) + 1));
  }
  EXPECT_GT(taken, seed) << "forgeries that no transport lets pass test nothing";
  EXPECT_GT(reasons.size(), 10U) << "so few places have refused anything";
}

TEST(forgery, launchers_and_agents_refuse_bytes_that_are_no_messages) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    std::vector<std::uint8_t> bytes = random_bytes(seed);
    bytes.insert(bytes.begin(), static_cast<std::uint8_t>(seed % 3));
    if (bytes.size() > 5) bytes[2] = bytes[3] = bytes[4] = 0;  // of a length field: short enough to be complete
    forge(bytes);
  }
}

TEST(forgery, what_libfuzzer_has_kept_does_no_harm) {
  std::size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(NACRE_SOURCE_DIR "/tests/fuzz_corpus/forgery")) {
    SCOPED_TRACE(each.path());
    std::ifstream file(each.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    forge(bytes);
    ++files;
  }
  EXPECT_GT(files, 10U);
}

}  // namespace
}  // namespace nacre::forgery
