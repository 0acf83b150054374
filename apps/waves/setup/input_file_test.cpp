// SPDX-License-Identifier: Apache-2.0
// Input files: everything in them is read or refused.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nacre/error.hpp>

#include "setup/input_file.hpp"

namespace waves {
namespace {

constexpr const char* box = "[grid]\nsize = [2, 2, 2]\nh = 1\ntime = 1\nlayers = 16\n";
constexpr const char* small_raster = "[raster]\nfile = \"numbers.txt\"\ncount = [1, 1, 2]\nspacing = [1, 1, 1]\n";

struct input_file : testing::Test {
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] description read(const std::string& text, const std::string& numbers = "2 1 1\n4 2 1\n") const {
    std::ofstream(folder + "/numbers.txt") << numbers;
    std::ofstream(folder + "/input.toml") << text;
    return read_input(folder + "/input.toml");
  }
  /// The words that refuse a file; empty where they do not.
  [[nodiscard]] std::string refusal(const std::string& text, const std::string& numbers = "2 1 1\n4 2 1\n") const {
    try {
      static_cast<void>(read(text, numbers));
    } catch (const nacre::setup_error& error) {
      return error.what();
    }
    return "";
  }
  void expect_words(const std::string& message, const std::string& words) const {
    EXPECT_NE(message.find(words), std::string::npos) << words << ": " << message;
  }
  std::string folder = testing::TempDir() + "waves_input." + std::to_string(::getpid());
};

TEST_F(input_file, has_a_raster_that_is_one_table) {
  const std::string table = small_raster;
  EXPECT_EQ(read(box + table).material.points.materials.size(), 2u);
  expect_words(refusal(std::string(box) + "[" + table.substr(0, 8) + "]" + table.substr(8)),
               "raster is no single table");
  for (const char* key : {"raster = 5\n", "random = \"yes\"\n", "random = [1]\n"}) {
    expect_words(refusal(key + std::string(box)), std::string(key, 6) + " is no single table");
  }
}

TEST_F(input_file, has_whole_numbers_of_points) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"[raster]\nfile = \"numbers.txt\"\ncount = [1, 1.2, 2]\nspacing = [1, 1, 1]\n", "take whole counts"},
      {"[random]\nseed = 1.5\n", "seed is out of bounds"},
      {"[random]\nseed = -1\n", "seed is out of bounds"}};
  for (const auto& [text, words] : faults) expect_words(refusal(box + text), words);
  expect_words(refusal("[grid]\nsize = [2, 2, 2]\nh = 1\ntime = 1\nlayers = 16.5\n"), "layers is out of bounds");
}

TEST_F(input_file, says_how_each_source_acts_in_time) {
  const std::string source = std::string(box) + "[[source]]\nat = [1, 1, 1]\nforce = [0, 0, 1]\nwidth = 0.1\n";
  EXPECT_EQ(read(source).sources.at(0).time.kind, time_function::shape::gaussian);
  expect_words(refusal(source + "time = \"sine\"\n"), "time is sine");
  EXPECT_EQ(read(source + "time = \"ricker\"\n").sources.at(0).time.kind, time_function::shape::ricker);
}

TEST_F(input_file, has_a_raster_of_as_many_points_as_it_says) {
  const std::string text = std::string(box) + small_raster;
  EXPECT_EQ(refusal(text, "2 1 1 4 2 1"), "");
  EXPECT_EQ(refusal(text, "2 1 1\n4 2 1\n\n \n"), "");
  expect_words(refusal(text, "2 1 1\n4 2\n"), "has 1 points");
  for (const char* numbers : {"2 1 1\n4 2 1\n4 2 1\n", "2 1 1\n4 2 1\nend\n", "2 1 1 4 2 1 7"}) {
    expect_words(refusal(text, numbers), "numbers.txt has more than 2 points");
  }
}

}  // namespace
}  // namespace waves
