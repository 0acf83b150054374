// SPDX-License-Identifier: Apache-2.0
// The machine files that come with Nacre: each can be simulated and emulated, with the times that its comments give.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

namespace {

using nacre::rank_id;

std::string machine_named(const std::string& name) { return NACRE_SOURCE_DIR "/machines/" + name + ".toml"; }

/// The virtual time at which a packet has come from one node to another; the handler costs come on top.
std::atomic<std::int64_t> arrived_ns{0};
void arrive(nacre::emulated_node& node, std::int32_t) { arrived_ns = node.now().count(); }

std::int64_t packet_ns(const std::string& name, nacre::coordinates destination) {
  arrived_ns = 0;
  nacre::config configuration;
  configuration.set("workers", "1");
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         const auto machine = nacre::emulated_machine::from_file(machine_named(name));
                         static nacre::coordinates target;
                         target = destination;
                         nacre::emulate(rt, machine, [](nacre::emulated_node& node) {
                           if (node.at() == nacre::coordinates{0, 0, 0}) node.send<arrive>(target, 1);
                         });
                       }),
            0);
  return arrived_ns;
}

TEST(machines, packets_pass_as_many_switches_as_the_wiring_has) {
  // A packet leaves its port after 5 ns, and its 128 bytes take 5.6 ns at 23 GB/s, 5.1 ns at 25 GB/s, rounded up.
  EXPECT_NEAR(static_cast<double>(packet_ns("summit", {1, 0, 0})), 600 + 90 + 11, 0.5) << "in the rack";
  EXPECT_NEAR(static_cast<double>(packet_ns("summit", {0, 1, 0})), 600 + 3 * 90 + 11, 0.5) << "over one more level";
  EXPECT_NEAR(static_cast<double>(packet_ns("summit", {17, 15, 15})), 600 + 5 * 90 + 11, 0.5) << "over the top";
  EXPECT_NEAR(static_cast<double>(packet_ns("perlmutter_cpu", {1, 0, 0})), 1250 + 350 + 11, 0.5) << "of one switch";
  EXPECT_NEAR(static_cast<double>(packet_ns("perlmutter_cpu", {0, 1, 0})), 1250 + 2 * 350 + 11, 0.5) << "of a group";
}

double answer(double value) { return value; }

TEST(machines, any_program_runs_on_each_of_them) {
  std::vector<std::string> seen;
  for (const auto& each : std::filesystem::directory_iterator(NACRE_SOURCE_DIR "/machines")) {
    seen.push_back(each.path().stem());
    nacre::config configuration;
    configuration.set("transport", "sim");
    configuration.set("ranks", "64");
    configuration.set("sim.machine", each.path().string());
    configuration.set("sim.jitter", "0");
    double near = 0, far = 0;
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           if (rt.rank() != rank_id(0)) return;
                           // The least of some: other messages of the runtime are under way now and then.
                           const auto trip = [&](std::uint32_t target) {
                             double shortest = 1;
                             for (int trips = 0; trips < 5; ++trips) {
                               const double begin = rt.now();
                               static_cast<void>(rt.call<answer>(rank_id(target), 1.5).get());
                               shortest = std::min(shortest, rt.now() - begin);
                             }
                             return shortest;
                           };
                           near = trip(1);
                           far = trip(63);
                         }),
              0)
        << each.path();
    const auto machine = nacre::emulated_machine::from_file(each.path().string());
    const auto least = static_cast<double>((machine.hop + machine.turn).count()) * 1e-9;
    EXPECT_GE(near, 2 * least) << each.path();
    EXPECT_GE(far, near + 2 * static_cast<double>(machine.hop.count()) * 1e-9 * 0.99) << each.path();
  }
  EXPECT_GE(seen.size(), 3U);
}

}  // namespace
