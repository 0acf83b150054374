// SPDX-License-Identifier: Apache-2.0
// Records come in order, whether memory holds them or a file.
#include "tool/report/sorted_records.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

std::vector<paraver_record> drawn_records(std::size_t count) {
  std::mt19937 random(7);
  std::vector<paraver_record> all;
  for (std::size_t index = 0; index < count; ++index) {
    all.push_back({.ns = static_cast<std::int64_t>(random() % 50),
                   .track = static_cast<std::uint32_t>(random() % 3),
                   .kind = static_cast<std::uint8_t>(1 + random() % 3),
                   .a = index,
                   .b = index * index});
  }
  return all;
}

TEST(sorted_records, come_by_time_kind_and_track_and_equal_ones_as_they_came) {
  const std::string folder = testing::TempDir() + "nacre_sorted." + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  for (const std::size_t count : {0U, 1U, 7U, 64U, 1000U}) {
    std::vector<paraver_record> all = drawn_records(count);
    for (const std::size_t in_memory : {1U, 7U, 64U, 5000U}) {
      sorted_records sorted(folder + "/trace.prv", in_memory);
      for (const paraver_record& each : all) sorted.add(each);
      EXPECT_TRUE(std::filesystem::is_empty(folder)) << "the file has no name";
      std::vector<std::uint64_t> numbers, expected;
      sorted.visit([&](const paraver_record& each) {
        EXPECT_EQ(each.b, each.a * each.a);
        numbers.push_back(each.a);
      });
      std::vector<paraver_record> ordered = all;
      std::stable_sort(ordered.begin(), ordered.end(), [](const paraver_record& x, const paraver_record& y) {
        return std::tie(x.ns, x.kind, x.track) < std::tie(y.ns, y.kind, y.track);
      });
      for (const paraver_record& each : ordered) expected.push_back(each.a);
      EXPECT_EQ(numbers, expected) << count << " records, " << in_memory << " in memory";
    }
  }
  std::filesystem::remove_all(folder);
}

TEST(sorted_records, say_that_there_is_no_place_for_their_file) {
  sorted_records sorted("/dev/null/trace.prv", 2);
  sorted.add({});
  EXPECT_THROW(sorted.add({}), setup_error);
}

}  // namespace
}  // namespace nacre::tool
