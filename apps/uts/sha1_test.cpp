// SPDX-License-Identifier: Apache-2.0
// Every SHA-1 implementation computes SHA-1.
#include "sha1.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <nacre/error.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace uts {
namespace {

using reference::bytes_of;
using reference::hex;

TEST(sha1, the_reference_of_these_tests_computes_the_digests_of_the_standard) {
  EXPECT_EQ(hex(reference::sha1({'a', 'b', 'c'})), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex(reference::sha1({})), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex(reference::sha1(std::vector<std::uint8_t>(1000, 'a'))), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
}

TEST(sha1, roots_have_the_published_states) {
  EXPECT_EQ(hex(bytes_of(sha1_root(19))), "c6988ab70cc9559ae4d6cba254e29a845a85f86b");
  EXPECT_EQ(hex(bytes_of(sha1_root(42))), "a11dabbcec7aab309c890ab3dbc256eaeb582782");
}

TEST(sha1, roots_of_any_seed_are_the_reference_s) {
  std::mt19937 random(1);
  for (int k = 0; k < 100; ++k) {
    const auto seed = static_cast<std::uint32_t>(random());
    EXPECT_EQ(bytes_of(sha1_root(seed)), reference::root(seed)) << seed;
  }
}

class sha1_kernels : public testing::TestWithParam<sha1_kernel> {};

TEST_P(sha1_kernels, children_have_the_published_states) {
  const std::array roots{sha1_root(19), sha1_root(42)};
  const std::array<child_ref, 3> jobs{{{0, 0}, {0, 1}, {1, 0}}};
  std::array<sha1_state, 3> out{};
  GetParam().hash_children(roots.data(), jobs, out.data());
  EXPECT_EQ(hex(bytes_of(out[0])), "2fb3131030280c1617a81d6a49c1e29effb19645");
  EXPECT_EQ(hex(bytes_of(out[1])), "4a8304c7c88f903ac06b01b07c7b2590e9397b5b");
  EXPECT_EQ(hex(bytes_of(out[2])), "7407806c9e18f6e1d4d944809de9c0c94b892757");
}

TEST_P(sha1_kernels, any_number_of_jobs_on_random_parents_is_hashed_as_by_the_reference_and_nothing_else_is_written) {
  std::mt19937 random(2);
  const sha1_state untouched{{1, 2, 3, 4, 5}};
  std::array<sha1_state, 7> parents{};
  for (std::size_t count = 0; count < 40; ++count) {
    for (sha1_state& parent : parents) {
      for (std::uint32_t& word : parent.words) word = static_cast<std::uint32_t>(random());
    }
    std::vector<child_ref> jobs(count);
    for (child_ref& job : jobs) {
      // Mostly small numbers, as in trees, and some that use all bits.
      const auto child = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 100);
      job = {static_cast<std::uint32_t>(random() % parents.size()), child};
    }
    std::vector<sha1_state> out(count + 1, untouched);
    GetParam().hash_children(parents.data(), jobs, out.data());
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_EQ(bytes_of(out[k]), reference::child(bytes_of(parents[jobs[k].parent]), jobs[k].child));
    }
    EXPECT_EQ(out[count], untouched);
  }
}

INSTANTIATE_TEST_SUITE_P(all, sha1_kernels, testing::ValuesIn(reference::kernels()),
                         [](const auto& kernel) { return std::string(kernel.param.name); });

constexpr std::array processor_needs{std::pair(sha1_choice::avx512, " avx512dq "),
                                     std::pair(sha1_choice::avx2, " avx2 "), std::pair(sha1_choice::shani, " sha_ni ")};

TEST(sha1, the_processor_has_the_instructions_when_the_system_says_so) {
  std::ifstream info("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(info), std::istreambuf_iterator<char>()};
  if (text.find("flags") == std::string::npos) GTEST_SKIP() << "this system does not list its processor's features";
  for (const auto& [choice, flag] : processor_needs) {
    EXPECT_EQ(sha1_available(choice), text.find(flag) != std::string::npos) << flag;
  }
  EXPECT_TRUE(sha1_available(sha1_choice::portable));
}

TEST(sha1, automatic_takes_the_first_of_the_list_that_the_processor_can_run) {
  sha1_choice first = sha1_choice::portable;
  for (const auto& [choice, flag] : processor_needs) {
    if (first == sha1_choice::portable && sha1_available(choice)) first = choice;
  }
  EXPECT_EQ(select_sha1(sha1_choice::automatic).name, select_sha1(first).name);
}

TEST(sha1, asking_for_instructions_that_the_processor_lacks_is_an_error_that_says_what_to_try) {
  for (const auto& [choice, flag] : processor_needs) {
    const auto name = std::string(sha1_names[static_cast<std::size_t>(choice)]);
    if (sha1_available(choice)) {
      EXPECT_EQ(select_sha1(choice).name, name);
      continue;
    }
    try {
      (void)select_sha1(choice);
      FAIL() << name << " was selected where it cannot run";
    } catch (const nacre::setup_error& error) {
      EXPECT_NE(std::string(error.what()).find("--sha portable"), std::string::npos) << error.what();
    }
  }
}

TEST(select_sha1, refuses_a_choice_that_has_come_from_a_liar) {
  EXPECT_THROW(static_cast<void>(select_sha1(static_cast<sha1_choice>(sha1_names.size()))), std::out_of_range);
  EXPECT_THROW(static_cast<void>(select_sha1(static_cast<sha1_choice>(-1))), std::out_of_range);
}

}  // namespace
}  // namespace uts
