// SPDX-License-Identifier: Apache-2.0
// The benchmark on small simulated machines: exact, repeatable, and balanced when it should be.
#include "benchmark.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include <nacre/error.hpp>

#include "options.hpp"

namespace synthetic {
namespace {

using settings = std::map<std::string, std::string>;

result run_simulated(const settings& settings, const options& asked) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("balance.tick", "10ms");
  for (const auto& [name, value] : settings) configuration.set(name, value);
  result match;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         const result own_result = run_benchmark(rt, asked);
                         if (rt.rank().value() == 0) match = own_result;
                       }),
            0);
  EXPECT_TRUE(match.exact);
  return match;
}

TEST(synthetic, without_a_balancer_takes_what_the_most_loaded_core_has) {
  const result result = run_simulated({{"ranks", "20"}, {"balancer", "none"}}, {});
  EXPECT_EQ(result.cores, 20u);
  EXPECT_EQ(result.objects, 200u);
  EXPECT_EQ(result.moves, 0u);
  EXPECT_NEAR(result.seconds, result.placed_seconds, 0.01);
  EXPECT_NEAR(result.most_core_seconds, result.placed_seconds, 0.01);
  EXPECT_LT(result.least_core_seconds, 0.51 * result.most_core_seconds);
}

TEST(synthetic, diffusion_ends_near_the_longest_first_schedule) {
  const settings machine{{"ranks", "10"}, {"workers", "8"}, {"balancer", "diffusion"}};
  const result measured = run_simulated(machine, {.light_seconds = 3.27});
  EXPECT_GE(measured.seconds, 0.97 * measured.longest_first_seconds);  // its objects may change their core
  EXPECT_LE(measured.seconds, 1.12 * measured.longest_first_seconds);
  settings declared = machine;
  declared["scheduler"] = "priority";
  EXPECT_LE(run_simulated(declared, {.light_seconds = 3.27, .declare = true}).seconds,
            1.05 * measured.longest_first_seconds);
}

TEST(synthetic, the_same_seed_gives_the_same_run) {
  const settings machine{{"ranks", "4"}, {"workers", "4"}, {"balancer", "steal"}, {"seed", "7"}};
  const result first = run_simulated(machine, {.light_seconds = 3.27, .seed = 7});
  const result again = run_simulated(machine, {.light_seconds = 3.27, .seed = 7});
  EXPECT_EQ(first.seconds, again.seconds);
  EXPECT_EQ(first.moves, again.moves);
  EXPECT_EQ(first.least_core_seconds, again.least_core_seconds);
}

TEST(synthetic, work_that_virtual_time_does_not_see_is_refused_before_it_begins) {
  for (const char* const kind : {"spin", "sleep"}) {
    const char* const words[] = {"synthetic", "--work", kind};
    EXPECT_THROW(static_cast<void>(parse_command_line(3, words, "sim")), nacre::setup_error);
    EXPECT_FALSE(parse_command_line(3, words, "shm").exit_code.has_value());
  }
  const char* const words[] = {"synthetic", "--work", "charge"};
  EXPECT_EQ(parse_command_line(3, words, "sim").asked.labour_kind, labour::charge);
}

}  // namespace
}  // namespace synthetic
