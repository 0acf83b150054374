// SPDX-License-Identifier: Apache-2.0
// Tables, files and argument lists for tests of the configuration.
#pragma once

#include <nacre/config.hpp>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <nacre/error.hpp>

namespace nacre {

using namespace std::chrono_literals;

inline constexpr std::array<option, 4> runtime_options{{
    {.name = "workers",
     .kind = option_kind::integer,
     .default_value = "2",
     .unit = "threads",
     .range = "1..1024",
     .help = "Worker threads of a rank."},
    {.name = "transport",
     .kind = option_kind::choice,
     .default_value = "inproc",
     .range = "inproc|sim|tcp",
     .help = "How messages travel."},
    {.name = "summary", .kind = option_kind::boolean, .default_value = "off", .help = "Prints a summary at the end."},
    {.name = "spin", .kind = option_kind::duration, .default_value = "20us", .help = "Polls before it sleeps."},
}};
inline constexpr std::array<option, 3> tcp_options{{
    {.name = "tcp.port", .kind = option_kind::integer, .default_value = "0", .range = "0..65535", .help = "A port."},
    {.name = "tcp.buffer", .kind = option_kind::bytes, .default_value = "64KiB", .help = "Buffer of a socket."},
    {.name = "tcp.loss", .kind = option_kind::real, .default_value = "0.5", .range = "0.0..1.0", .help = "a share"},
}};

inline config make_config() { return config{{"runtime", runtime_options}, {"tcp transport", tcp_options}}; }

/// A file that is deleted at the end of the test.
class temporary_file {
 public:
  explicit temporary_file(const std::string& content)
      : path_(testing::TempDir() + "nacre_config_" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + std::to_string(counter_++) + ".toml") {
    std::ofstream(path_) << content;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  inline static int counter_ = 0;
  std::string path_;
};

/// An argument list in the form that main gets; it lives as long as the test.
class arguments {
 public:
  arguments(std::initializer_list<std::string> words) : words_(words) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    count = static_cast<int>(words_.size());
  }
  char** values() { return pointers_.data(); }
  [[nodiscard]] std::vector<std::string> left() const {
    EXPECT_EQ(pointers_.at(static_cast<std::size_t>(count)), nullptr);
    return {pointers_.begin(), pointers_.begin() + count};
  }
  int count = 0;

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

inline void apply(config& configuration, std::initializer_list<std::string> words) {
  arguments list(words);
  configuration.apply_command_line(list.count, list.values());
}

inline void apply_environment(config& configuration, const char* entry) {
  const char* const entries[] = {"PATH=/bin", entry, nullptr};
  configuration.apply_environment(entries);
}

/// Returns the text of the setup_error that `action` throws; empty when `action` throws none.
template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const setup_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace nacre
