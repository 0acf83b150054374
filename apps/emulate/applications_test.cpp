// SPDX-License-Identifier: Apache-2.0
// The relaxation and the molecular dynamics: right by their own checks, and equal to the last bit however they run.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "md_cell.hpp"
#include "programs.hpp"

namespace {

using namespace std::chrono_literals;

/// Where the nodes of an emulation are.
struct hosts {
  int ranks = 1;
  int workers = 1;
  const char* balancer = "none";
  const char* transport = "inproc";
};
constexpr hosts all_hosts[]{
    {1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2, "rotate"}, {3, 1, "none", "sim"}, {4, 2, "rotate", "sim"}};

emulate::program_result computed(const emulate::run_program& program, const nacre::coordinates& grid,
                                 const emulate::program_parameters& parameters, const hosts& layout) {
  nacre::config configuration;
  configuration.set("ranks", std::to_string(layout.ranks));
  configuration.set("workers", std::to_string(layout.workers));
  configuration.set("balancer", layout.balancer);
  configuration.set("transport", layout.transport);
  emulate::program_result of_first{{{}, 0, 0}};
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         const nacre::emulated_machine machine{
                             .grid = grid, .threads = 4, .hop = 5ns, .turn = 75ns, .handler = 1us};
                         const auto result =
                             program(rt, machine, parameters, {.blocks = 10, .moves = nacre::emulated_moves::always});
                         EXPECT_EQ(result.error, "");
                         if (rt.rank().value() == 0) of_first = result;
                       }),
            0);
  return of_first;
}

void expect_equal_everywhere(const emulate::run_program& program, const nacre::coordinates& grid,
                             const emulate::program_parameters& parameters) {
  const auto first = computed(program, grid, parameters, all_hosts[0]);
  EXPECT_NE(first.digest, 0u);
  for (const hosts& hosts : all_hosts) {
    const auto result = computed(program, grid, parameters, hosts);
    EXPECT_EQ(result.digest, first.digest)
        << hosts.ranks << " ranks, " << hosts.workers << " workers, " << hosts.transport;
    EXPECT_EQ(result.figures, first.figures);
    EXPECT_EQ(result.run.time(), first.run.time());
    EXPECT_EQ(result.run.messages(), first.run.messages());
  }
}

TEST(emulated_relaxation, equals_a_plain_loop_on_any_number_of_workers_and_ranks) {
  expect_equal_everywhere(emulate::run_jacobi, {4, 3, 5}, {.cells = 4, .steps = 7});
}

TEST(emulated_relaxation, equals_a_plain_loop_on_any_grid_with_any_cells) {
  for (const nacre::coordinates& grid : {nacre::coordinates{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 7}, {2, 2, 2}}) {
    for (const std::uint32_t cells : {1u, 2u, 3u, 5u}) {
      const auto result = computed(emulate::run_jacobi, grid, {.cells = cells, .steps = 9}, {2, 1});
      EXPECT_EQ(result.error, "") << cells << " cells";
    }
  }
}

TEST(emulated_relaxation, takes_the_time_of_its_sweeps_and_packets) {
  // One step: faces of one packet each, 1 us after 80 ns to receive one, then 1 us and 8 cells of 10 ns for the sweep,
  // and 80 ns and 1 us for the residual on its way to the root. The sends of the start cost nothing.
  const auto result = computed(emulate::run_jacobi, {2, 1, 1}, {.cells = 2, .steps = 1, .work = 10ns}, {1, 1});
  EXPECT_EQ(result.run.time(), 80ns + 1us + 1us + 80ns + 80ns + 1us);
}

TEST(emulated_programs, whose_work_is_longer_than_virtual_time_are_refused_with_that_work) {
  for (const auto& program : {emulate::run_jacobi, emulate::run_md}) {
    nacre::config configuration;
    configuration.set("workers", "1");
    std::string problem;
    static_cast<void>(nacre::run(configuration, [&](nacre::runtime& rt) {
      const nacre::emulated_machine machine{.grid = {2, 2, 2}, .threads = 4, .hop = 5ns, .turn = 75ns, .handler = 1us};
      try {
        static_cast<void>(program(rt, machine, {.cells = 8, .steps = 1, .work = 100'000'000s}, {}));
      } catch (const nacre::usage_error& error) {
        problem = error.what();
      }
    }));
    EXPECT_NE(problem.find("operations of --work, 100000000000000000 ns each"), std::string::npos) << problem;
  }
}

TEST(emulated_dynamics, keep_energy_and_momentum_on_any_number_of_workers_and_ranks) {
  expect_equal_everywhere(emulate::run_md, {3, 4, 3}, {.steps = 30});
}

TEST(emulated_dynamics, have_the_forces_of_a_direct_sum_in_boxes_smaller_than_a_neighbourhood) {
  for (const nacre::coordinates& grid : {nacre::coordinates{1, 1, 1}, {2, 1, 1}, {1, 2, 3}, {2, 2, 2}, {5, 1, 4}}) {
    const auto result = computed(emulate::run_md, grid, {.steps = 10}, {2, 1});
    ASSERT_FALSE(result.figures.empty());
    EXPECT_EQ(result.figures.back().first, "force error");
  }
}

TEST(emulated_dynamics, keep_their_energy_while_atoms_move_from_cell_to_cell) {
  const auto result = computed(emulate::run_md, {3, 3, 3}, {.steps = 1000}, {1, 2});
  for (const auto& [name, value] : result.figures) {
    if (name == "energy drift") {
      EXPECT_LE(value, 1e-4);
    } else if (name == "atoms that moved") {
      EXPECT_GT(value, 1000);
    }
  }
}

TEST(emulated_dynamics, compute_the_same_in_any_number_of_handlers_and_sooner_in_several) {
  const auto in_pieces = [](std::uint32_t pieces) {
    return computed(emulate::run_md, {3, 2, 2}, {.steps = 10, .pieces = pieces, .work = 100ns}, {2, 1});
  };
  const auto whole = in_pieces(1);
  for (const std::uint32_t pieces : {2U, 3U, 4U}) {
    const auto result = in_pieces(pieces);
    EXPECT_EQ(result.digest, whole.digest);
    EXPECT_EQ(result.figures, whole.figures);
    EXPECT_LT(result.run.time(), whole.run.time());
    // For each of the 11 forces of each of the 12 cells so many handlers of 1 us more, and one that goes on from them.
    const std::uint64_t more = 12 * 11 * (std::uint64_t{pieces} + 1);
    EXPECT_EQ(result.run.counts().events, whole.run.counts().events + more);
    EXPECT_EQ(result.run.counts().busy, whole.run.counts().busy + more * 1us);
  }
}

TEST(emulated_dynamics, have_forces_that_are_the_slopes_of_their_potential) {
  for (const double charges : {1.0, -1.0}) {
    for (const double r : {0.6, 0.9, 1.0, 1.3, 1.7, 1.79}) {
      constexpr double h = 1e-5;
      const double slope = (emulate::interaction_of((r + h) * (r + h), charges).potential -
                            emulate::interaction_of((r - h) * (r - h), charges).potential) /
                           (2 * h);
      EXPECT_NEAR(emulate::interaction_of(r * r, charges).force_over_distance * r, -slope,
                  1e-6 * std::max(1.0, std::fabs(slope)))
          << r;
    }
    const auto last = emulate::interaction_of(emulate::cut_off * emulate::cut_off, charges);
    EXPECT_NEAR(last.potential, 0, 1e-12);
    EXPECT_NEAR(last.force_over_distance, 0, 1e-12);
  }
}

TEST(emulated_dynamics, put_the_packets_of_a_round_into_one_order_however_they_come) {
  emulate::inbox box;
  for (const std::uint8_t direction : {20, 3, 9, 4}) {
    for (const std::uint8_t part : {1, 0}) {
      EXPECT_FALSE(box.is_complete());
      box.take({.direction = direction, .part = part, .parts = 2});
    }
  }
  EXPECT_EQ(box.complete, 4u);
  std::vector<int> order;
  for (const auto& packet : box.release()) order.push_back(packet.direction * 2 + packet.part);
  EXPECT_EQ(order, (std::vector<int>{6, 7, 8, 9, 18, 19, 40, 41}));
  EXPECT_EQ(box.complete, 0u);
}

}  // namespace
