// SPDX-License-Identifier: Apache-2.0
// `nacre calibrate` measures this machine: its file drives the simulator and the emulator.
#include "launched.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace {

using namespace nacre::tests;

std::string file_named(const std::string& name) {
  return testing::TempDir() + "nacre_calibrate_" + std::to_string(getpid()) + "_" + name;
}

TEST(nacre_calibrate, writes_a_machine_that_programs_can_be_simulated_and_emulated_on) {
  const std::string machine = file_named("machine.toml"), told = file_named("told.json");
  const outcome got = nacre_command({"calibrate", "--quick", "--out", machine, "--json", told});
  ASSERT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE(got.errors.find("7 of 7: "), std::string::npos) << got.errors;
  const auto json = nlohmann::json::parse(std::ifstream(told));
  EXPECT_GT(json.at("memory_copy_bytes_per_s").get<double>(), 1e7);
  for (const char* separator : {"messages_between_processes", "messages_in_a_process"}) {
    const auto& small = json.at(separator).at(0);
    const double measured = small.at("round_trip_ns"), simulated = small.at("simulated_round_trip_ns");
    EXPECT_GE(simulated, 0.9 * measured) << separator << ": the latency makes up for what the runtime does not take";
  }
  const outcome simulated = launched({NACRE_BIN_DIR "/uts", "--tree", "T3", "--nacre.transport=sim", "--nacre.ranks=4",
                                      "--nacre.sim.machine=" + machine})
                                .end();
  EXPECT_EQ(code_of(simulated), 0) << simulated.errors;
  const outcome emulated = launched({NACRE_BIN_DIR "/emulate", "--program", "ring", "--machine", machine}).end();
  EXPECT_EQ(code_of(emulated), 0) << emulated.errors;
  std::filesystem::remove(machine);
  std::filesystem::remove(told);
}

TEST(nacre_calibrate, refuses_a_file_that_cannot_be_written_before_it_measures) {
  for (const char* option : {"--out", "--json"}) {
    const outcome got = nacre_command({"calibrate", option, "/no/such/folder/machine.toml"});
    EXPECT_EQ(code_of(got), 2);
    EXPECT_NE(got.errors.find("/no/such/folder/machine.toml"), std::string::npos) << got.errors;
    EXPECT_EQ(got.errors.find("1 of 7"), std::string::npos) << got.errors;
  }
}

TEST(nacre_calibrate, refuses_one_file_for_both_outputs) {
  const std::string both = file_named("both");
  const outcome got = nacre_command({"calibrate", "--quick", "--out", both, "--json", both});
  EXPECT_EQ(code_of(got), 2);
  EXPECT_NE(got.errors.find(both), std::string::npos) << got.errors;
  EXPECT_EQ(got.errors.find("1 of 7"), std::string::npos) << got.errors;
  EXPECT_FALSE(std::filesystem::exists(both));
}

}  // namespace
