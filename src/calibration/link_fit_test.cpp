// SPDX-License-Identifier: Apache-2.0
// A network that is known, since it is simulated, is found again from the times of its messages.
#include "calibration/link_fit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/config.hpp>

#include "calibration/machine_costs.hpp"
#include "machine/machine_file.hpp"

namespace nacre::calibration {
namespace {

const std::vector<std::size_t> sizes{8, 1 << 16, 1 << 18};
const cost_rows runtime{{"sim.cost.send", "70ns"}, {"sim.cost.receive", "90ns"}, {"sim.cost.dispatch", "25ns"}};

/// A network with rows for both places, of which only those of `place` are looked at.
cost_rows known_network(rank_place place) {
  const std::string prefix = place == rank_place::own_process ? "sim." : "sim.local_";
  cost_rows rows{{prefix + "latency", "640ns"}, {prefix + "send_overhead", "0ns"}, {prefix + "receive_overhead", "0ns"},
                 {prefix + "gap", "450ns"},     {prefix + "bandwidth", "3.5"},     {prefix + "jitter", "0"}};
  rows.insert(runtime.begin(), runtime.end());
  return rows;
}

double number_of(const std::string& text) { return std::stod(text); }

TEST(link_fit, finds_the_network_from_which_the_times_of_messages_come) {
  for (const rank_place place : {rank_place::own_process, rank_place::same_process}) {
    const std::string prefix = place == rank_place::own_process ? "sim." : "sim.local_";
    const auto measured = predict_messages(known_network(place), place, sizes);
    ASSERT_EQ(measured.size(), sizes.size());
    cost_rows cost_rows = fit_link(measured, place, runtime);
    EXPECT_NEAR(number_of(cost_rows.at(prefix + "latency")), 640, 70) << "gaps and bytes of a header pass for latency";
    EXPECT_NEAR(number_of(cost_rows.at(prefix + "gap")), 450, 30);
    EXPECT_NEAR(number_of(cost_rows.at(prefix + "bandwidth")), 3.5, 0.1);
    cost_rows.insert(runtime.begin(), runtime.end());
    const auto predicted = predict_messages(cost_rows, place, sizes);
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      EXPECT_NEAR(predicted[n].round_trip_seconds, measured[n].round_trip_seconds,
                  0.05 * measured[n].round_trip_seconds);
      EXPECT_NEAR(predicted[n].one_way_seconds, measured[n].one_way_seconds, 0.05 * measured[n].one_way_seconds);
    }
  }
}

TEST(link_fit, a_runtime_that_is_slower_than_the_messages_leaves_nothing_to_the_network) {
  const std::vector<sample> fast{{8, 100e-9, 10e-9}, {1 << 16, 200e-9, 5e-9}};
  const cost_rows cost_rows = fit_link(fast, rank_place::own_process, runtime);
  EXPECT_EQ(cost_rows.at("sim.latency"), "0ns");
  EXPECT_EQ(cost_rows.at("sim.gap"), "0ns");
  EXPECT_THROW((void)fit_link({{8, 1e-6, 1e-6}}, rank_place::own_process, runtime), std::runtime_error);
}

TEST(link_fit, shorter_times_are_kept_each_for_itself) {
  std::vector<sample> best;
  take_shorter(best, {{8, 5, 2}, {64, 9, 9}});
  take_shorter(best, {{8, 4, 3}, {64, 8, 10}});
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].round_trip_seconds, 4);
  EXPECT_EQ(best[0].one_way_seconds, 2);
  EXPECT_EQ(best[1].one_way_seconds, 9);
}

TEST(machine_costs, the_file_of_a_measured_machine_can_be_read_and_has_its_times) {
  machine_costs measured{.cores = 2, .local_message_ns = 100, .look = {.look_ns = 150, .step_ns = 20}};
  for (const char* name : {"send_local", "dispatch", "send", "receive_and_dispatch", "receive_and_send_on", "small_out",
                           "small_in", "large_out", "large_in", "create"}) {
    measured.runtime_ns[name] = 40;
  }
  measured.processes = predict_messages(known_network(rank_place::own_process), rank_place::own_process, {8, 1 << 16});
  measured.threads = measured.processes;
  const fitted_machine fitted = fit(measured);
  EXPECT_EQ(fitted.rows.at("sim.cost.look"), "150ns");
  EXPECT_EQ(fitted.rows.at("sim.cost.look_step"), "20ns");
  const std::string path = testing::TempDir() + "nacre_measured_machine_" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << machine_text(measured, fitted);
  const emulated_machine emulated = machine::read_machine_file(path);
  EXPECT_EQ(emulated.grid, (coordinates{2, 1, 1}));
  EXPECT_EQ(emulated.handler.count(), 100);
  const double packet_ns = 128 / emulated.bandwidth * 1e9;
  EXPECT_NEAR(static_cast<double>((emulated.hop + emulated.handler).count()) + packet_ns,
              measured.processes.front().round_trip_seconds / 2 * 1e9, 2);
  EXPECT_EQ(machine::read_simulator_options(path).size(), fitted.rows.size());
}

}  // namespace
}  // namespace nacre::calibration
