// SPDX-License-Identifier: Apache-2.0
// The options of the runtime's own costs: each reaches its row, and one factor scales them all.
#include "machine/runtime_cost_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include <nacre/config.hpp>
#include <nacre/error.hpp>

namespace nacre::machine {
namespace {

[[nodiscard]] config declared_costs() { return config{option_table{"costs", runtime_cost_rows()}}; }

TEST(runtime_costs, nothing_costs_anything_unless_it_is_set) {
  const runtime_costs none;
  for (std::size_t each = 0; each < own_work_count; ++each) {
    EXPECT_EQ(none.picoseconds(static_cast<own_work>(each)), 0u) << each;
  }
}

TEST(runtime_costs, everything_costs_something_by_default) {
  const runtime_costs costs = read_runtime_costs(declared_costs());
  for (std::size_t each = 0; each < own_work_count; ++each) {
    EXPECT_GT(costs.picoseconds(static_cast<own_work>(each)), 0u) << runtime_cost_rows()[each].name;
  }
}

TEST(runtime_costs, each_option_reaches_its_own_row) {
  for (std::size_t each = 0; each < own_work_count; ++each) {
    const option& row = runtime_cost_rows()[each];
    config configuration = declared_costs();
    const bool speed = row.kind == option_kind::real;
    configuration.set(row.name, speed ? "0.5" : "2us");
    const runtime_costs costs = read_runtime_costs(configuration), previous = read_runtime_costs(declared_costs());
    for (std::size_t other = 0; other < own_work_count; ++other) {
      const auto item = static_cast<own_work>(other);
      const std::uint64_t expected = other != each ? previous.picoseconds(item) : speed ? 2000u : 2'000'000u;
      EXPECT_EQ(costs.picoseconds(item), expected) << row.name << " and " << runtime_cost_rows()[other].name;
    }
  }
}

TEST(runtime_costs, the_factor_scales_all_and_nought_makes_them_free) {
  config configuration = declared_costs();
  const runtime_costs once = read_runtime_costs(configuration);
  for (const std::uint64_t factor : {3u, 0u}) {
    configuration.set("sim.cost.factor", std::to_string(factor));
    const runtime_costs times = read_runtime_costs(configuration);
    for (std::size_t each = 0; each < own_work_count; ++each) {
      const auto item = static_cast<own_work>(each);
      EXPECT_EQ(times.picoseconds(item), factor * once.picoseconds(item)) << runtime_cost_rows()[each].name;
    }
  }
}

TEST(runtime_costs, a_speed_of_nought_is_no_speed_but_no_time) {
  config configuration = declared_costs();
  configuration.set("sim.cost.pack", "0");
  EXPECT_EQ(read_runtime_costs(configuration).picoseconds(own_work::pack_byte), 0u);
}

}  // namespace
}  // namespace nacre::machine
