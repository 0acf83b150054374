// SPDX-License-Identifier: Apache-2.0
// Defaults of options that bound memory, in control groups of several sizes.
#include "runtime/memory_defaults.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/options.hpp"

namespace nacre {
namespace {

constexpr std::int64_t mib = 1 << 20;

config lowered(const memory_share& share, config configuration = config(all_option_tables())) {
  lower_own_memory(configuration, share);
  lower_receive_memory(configuration, share);
  return configuration;
}

TEST(memory_defaults, stay_where_there_is_enough) {
  const config plain(all_option_tables());
  const config configuration = lowered({.bytes = std::uint64_t{64} << 30, .ranks = 8});
  for (const char* option : {"receive_memory", "send_memory", "spare_memory", "trace_memory"}) {
    EXPECT_EQ(configuration.get_int(option), plain.get_int(option)) << option;
    EXPECT_FALSE(configuration.was_set(option)) << option;
  }
}

TEST(memory_defaults, of_all_ranks_of_a_host_take_half_of_what_there_is) {
  for (const std::uint32_t ranks : {1U, 2U, 7U, 16U}) {
    for (const std::int64_t bytes : {512 * mib, 1024 * mib, 4096 * mib}) {
      const config configuration = lowered({.bytes = static_cast<std::uint64_t>(bytes), .ranks = ranks});
      const std::int64_t of_rank = 3 * configuration.get_int("receive_memory") + configuration.get_int("send_memory") +
                                   configuration.get_int("spare_memory") + configuration.get_int("trace_memory");
      EXPECT_LE(of_rank * ranks, bytes / 2) << ranks << " ranks, " << bytes << " bytes";
    }
  }
  EXPECT_EQ(lowered({.bytes = 512 * mib, .ranks = 2}).get_int("receive_memory"), 32 * mib);
}

TEST(memory_defaults, have_a_lower_bound) {
  const config configuration = lowered({.bytes = 1, .ranks = 1000});
  for (const char* option : {"receive_memory", "send_memory", "spare_memory", "trace_memory"})
    EXPECT_EQ(configuration.get_int(option), mib) << option;
}

TEST(memory_defaults, give_way_to_what_anybody_has_set) {
  config configuration(all_option_tables());
  configuration.set("receive_memory", "1GiB");
  configuration.set("send_memory", "2GiB", setting_source::program);
  configuration = lowered({.bytes = 64 * mib, .ranks = 4}, configuration);
  EXPECT_EQ(configuration.get_int("receive_memory"), 1024 * mib);
  EXPECT_EQ(configuration.get_int("send_memory"), 2048 * mib);
  EXPECT_EQ(configuration.get_int("spare_memory"), mib);
}

TEST(memory_defaults, of_a_job_are_those_that_its_launcher_gives) {
  const std::string variable = receive_memory_variable({.bytes = 512 * mib, .ranks = 2});
  const std::size_t end = variable.find('=');
  const std::string name = variable.substr(0, end);
  const auto taken = [&](const std::string& value, std::string_view option = {}) {
    EXPECT_EQ(::setenv(name.c_str(), value.c_str(), 1), 0);
    config configuration(all_option_tables());
    if (!option.empty()) configuration.set("receive_memory", option, setting_source::environment);
    take_receive_memory(configuration);
    EXPECT_EQ(::unsetenv(name.c_str()), 0);
    return configuration.get_int("receive_memory");
  };
  EXPECT_EQ(taken(variable.substr(end + 1)), 32 * mib);
  EXPECT_EQ(taken(variable.substr(end + 1), "48MiB"), 48 * mib);
  for (const char* nonsense : {"", "-1", "a lot", "5"}) EXPECT_EQ(taken(nonsense), 256 * mib) << nonsense;
}

}  // namespace
}  // namespace nacre
