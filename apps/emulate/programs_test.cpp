// SPDX-License-Identifier: Apache-2.0
// The published answers of the broadcasts and the reduction, to the nanosecond, however the emulation is spread.
#include "programs.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "options.hpp"

namespace {

using namespace std::chrono_literals;
using nacre::emulated_machine;

constexpr std::uint32_t all_blocks = 12;
constexpr auto always = nacre::emulated_moves::always;

emulated_machine petaflops(std::chrono::nanoseconds hop) {
  return {.grid = {34, 34, 36}, .threads = 200, .hop = hop, .turn = 75ns, .handler = 1us};
}

struct spread {
  int ranks = 1;
  int workers = 1;
  const char* balancer = "none";
};

void expect_time(emulate::run_program program, const emulated_machine& machine, std::chrono::nanoseconds time,
                 const spread& layout) {
  nacre::config configuration;
  configuration.set("ranks", std::to_string(layout.ranks));
  configuration.set("workers", std::to_string(layout.workers));
  configuration.set("balancer", layout.balancer);
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         const auto result = program(rt, machine, {}, {.blocks = all_blocks, .moves = always});
                         EXPECT_EQ(result.run.time(), time)
                             << layout.ranks << " ranks, " << layout.workers << " workers";
                         EXPECT_EQ(result.error, "");
                       }),
            0);
}

// 102 handlers and 101 packets: 102 us + 101 * 80 ns; published to a hundredth of a microsecond for a hop of 1 ns.
TEST(emulated_programs, the_broadcasts_and_the_reduction_take_the_published_times) {
  for (const spread& range : {spread{1, 1}, spread{1, 2}, spread{1, 4}, spread{2, 1}, spread{2, 2}, spread{4, 4}}) {
    expect_time(emulate::run_line, petaflops(5ns), 110'080ns, range);
    expect_time(emulate::run_octree, petaflops(5ns), 8'885ns, range);
    expect_time(emulate::run_reduce, petaflops(5ns), 110'080ns, range);
    expect_time(emulate::run_line, petaflops(1ns), 109'676ns, range);
    expect_time(emulate::run_octree, petaflops(1ns), 8'657ns, range);
    expect_time(emulate::run_reduce, petaflops(1ns), 109'676ns, range);
  }
}

TEST(emulated_programs, blocks_that_move_all_the_time_change_no_time) {
  const spread spread{3, 2, "rotate"};
  expect_time(emulate::run_line, petaflops(5ns), 110'080ns, spread);
  expect_time(emulate::run_octree, petaflops(5ns), 8'885ns, spread);
  expect_time(emulate::run_reduce, petaflops(5ns), 110'080ns, spread);
}

/// The path of the line: 102 handlers after the start function, and a packet before each but the first.
TEST(emulated_programs, the_critical_path_of_a_line_is_the_line_wherever_its_blocks_are) {
  for (const spread& layout : {spread{1, 1}, spread{2, 2}, spread{3, 2, "rotate"}}) {
    nacre::config configuration;
    configuration.set("ranks", std::to_string(layout.ranks));
    configuration.set("workers", std::to_string(layout.workers));
    configuration.set("balancer", layout.balancer);
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           const nacre::critical_path path =
                               emulate::run_line(rt, petaflops(5ns), {},
                                                 {.blocks = all_blocks, .critical_path = true, .moves = always})
                                   .run.path();
                           EXPECT_TRUE(path.known);
                           EXPECT_EQ(path.handlers, 103U);
                           EXPECT_EQ(path.waits, 0U);
                           EXPECT_EQ(path.running, 102us);
                           EXPECT_EQ(path.under_way, 101 * 80ns);
                           ASSERT_EQ(path.longest.size(), 20U);
                           EXPECT_EQ(path.longest.front().part(), 1080ns);
                           EXPECT_NE(path.longest.front().handler.find("spread"), std::string::npos);
                         }),
              0);
  }
}

TEST(emulated_programs, in_the_order_of_arrival_nothing_is_lost_and_errors_end_all_blocks) {
  for (const spread& layout : {spread{1, 2}, spread{3, 2, "rotate"}}) {
    nacre::config configuration;
    configuration.set("ranks", std::to_string(layout.ranks));
    configuration.set("workers", std::to_string(layout.workers));
    configuration.set("balancer", layout.balancer);
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           const nacre::emulation_options options{
                               .blocks = 64, .order = nacre::emulated_order::arrival, .moves = always};
                           const auto line = emulate::run_line(rt, petaflops(5ns), {}, options);
                           EXPECT_EQ(line.run.time(), 110'080ns) << "a node has one message, so no order to mistake";
                           EXPECT_EQ(line.error, "");
                           emulated_machine small = petaflops(5ns);
                           small.grid = {6, 5, 4};
                           const auto jacobi = emulate::run_jacobi(rt, small, {.cells = 3, .steps = 8}, options);
                           EXPECT_EQ(jacobi.error, "") << "faces are put into order by the program";
                           const auto fails = [](nacre::emulated_node& node) {
                             if (node.at().x == 3) throw std::runtime_error("out of paper");
                           };
                           EXPECT_THROW(nacre::emulate(rt, small, fails, options), nacre::usage_error);
                         }),
              0);
  }
}

TEST(emulated_programs, turns_that_are_counted_shorten_the_line) {
  // D nodes in a line need no turn, and each handler's packets go along one axis.
  emulated_machine machine = petaflops(5ns);
  machine.turns = nacre::turn_rule::counted;
  expect_time(emulate::run_line, machine, 102'505ns, {2, 1});
}

TEST(emulated_programs, links_with_contention_do_not_delay_a_line_that_uses_each_of_them_once) {
  emulated_machine machine = petaflops(5ns);
  machine.bandwidth = 1e9;  // 128 ns a packet
  expect_time(emulate::run_line, machine, 110'080ns + 101 * 128ns, {1, 1});
  machine.contention = true;
  expect_time(emulate::run_line, machine, 110'080ns + 101 * 128ns, {1, 1});
  expect_time(emulate::run_line, machine, 110'080ns + 101 * 128ns, {2, 2, "rotate"});
}

TEST(emulated_programs, a_broadcast_reaches_every_node_of_any_grid) {
  for (const nacre::coordinates& grid :
       {nacre::coordinates{1, 1, 1}, {2, 2, 2}, {1, 9, 1}, {3, 2, 5}, {7, 1, 2}, {16, 3, 4}}) {
    nacre::config configuration;
    configuration.set("ranks", "2");
    configuration.set("workers", "1");
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           emulated_machine machine = petaflops(5ns);
                           machine.grid = grid;
                           machine.threads = 2;
                           EXPECT_EQ(emulate::run_line(rt, machine, {}, {}).error, "");
                           EXPECT_EQ(emulate::run_octree(rt, machine, {}, {}).error, "");
                           EXPECT_EQ(emulate::run_reduce(rt, machine, {}, {}).error, "");
                         }),
              0);
  }
}

TEST(emulated_programs, phold_and_the_ring_are_equal_on_any_number_of_workers_and_ranks) {
  nacre::emulation_counts first;
  for (const spread& layout : {spread{1, 1}, spread{1, 4}, spread{3, 2, "rotate"}}) {
    nacre::config configuration;
    configuration.set("ranks", std::to_string(layout.ranks));
    configuration.set("workers", std::to_string(layout.workers));
    configuration.set("balancer", layout.balancer);
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           const emulated_machine m{.grid = {20, 20, 20}, .turn = 100ns};
                           const auto phold = emulate::run_phold(rt, m, {.population = 4, .until = 5us}, {}).run;
                           emulated_machine ring = petaflops(5ns);
                           ring.grid = {6, 5, 4};
                           EXPECT_EQ(emulate::run_ring(rt, ring, {.rounds = 20}, {}).error, "");
                           if (rt.rank().value() != 0) return;
                           if (first.events == 0) first = phold.counts();
                           EXPECT_EQ(phold.counts().events, first.events);
                           EXPECT_EQ(phold.counts().messages, first.messages);
                           EXPECT_EQ(phold.counts().end, first.end);
                           EXPECT_EQ(phold.counts().hops, first.hops);
                         }),
              0);
  }
  EXPECT_GT(first.events, 100'000u);
}

TEST(emulated_programs, a_relaxation_equals_one_loop_over_all_cells_to_the_last_bit) {
  for (const spread& layout : {spread{1, 1}, spread{2, 2}, spread{3, 2, "rotate"}}) {
    nacre::config configuration;
    configuration.set("ranks", std::to_string(layout.ranks));
    configuration.set("workers", std::to_string(layout.workers));
    configuration.set("balancer", layout.balancer);
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           for (const nacre::coordinates& grid : {nacre::coordinates{7, 5, 4}, {1, 1, 1}, {1, 6, 1}}) {
                             emulated_machine machine = petaflops(5ns);
                             machine.grid = grid;
                             machine.threads = 4;
                             EXPECT_EQ(emulate::run_jacobi(rt, machine, {.steps = 12}, {}).error, "");
                           }
                         }),
              0);
  }
}

TEST(emulated_programs, a_line_goes_around_a_missing_node_in_the_time_of_its_way) {
  // From the corner over four hops to (2, 0, 0), and from there to (2, 1, 0): three handlers and two packets.
  emulated_machine machine = petaflops(5ns);
  machine.grid = {3, 2, 1};
  machine.missing = {{1, 0, 0}};
  expect_time(emulate::run_line, machine, 3 * 1000ns + (4 * 5ns + 75ns) + (5ns + 75ns), {2, 1});
  expect_time(emulate::run_reduce, machine, 3 * 1000ns + (4 * 5ns + 75ns) + (5ns + 75ns), {1, 1});
}

/// Runs all programs that reach every node; returns whether packets find ways between all nodes.
bool reaches_all(const emulated_machine& machine, const std::string& name) {
  std::atomic<bool> connected = true;  // the mains of both ranks write it; read when they have ended
  nacre::config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         try {
                           EXPECT_EQ(emulate::run_line(rt, machine, {}, {}).error, "") << name;
                           EXPECT_EQ(emulate::run_octree(rt, machine, {}, {}).error, "") << name;
                           EXPECT_EQ(emulate::run_reduce(rt, machine, {}, {}).error, "") << name;
                           EXPECT_EQ(emulate::run_ring(rt, machine, {.rounds = 3}, {}).error, "") << name;
                         } catch (const nacre::usage_error& error) {
                           connected = false;
                           EXPECT_NE(std::string(error.what()).find("no way from"), std::string::npos) << error.what();
                         }
                       }),
            0);
  return connected;
}

TEST(emulated_programs, whatever_nodes_are_missing_all_others_are_reached) {
  int connected = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    for (const nacre::coordinates& grid : {nacre::coordinates{5, 4, 3}, {6, 1, 5}}) {
      emulated_machine machine = petaflops(5ns);
      machine.grid = grid;
      machine.threads = 2;
      machine.topology = seed % 2 == 0 ? nacre::emulated_topology::torus : nacre::emulated_topology::mesh;
      const std::string missing = std::to_string(5 + seed % 5 * 6) + "%@" + std::to_string(seed);
      machine.missing = nacre::parse_missing_nodes(missing, grid);
      if (seed % 3 == 0) machine.missing.emplace_back(0, 0, 0);
      ++tried;
      connected += reaches_all(machine, missing) ? 1 : 0;
    }
  }
  EXPECT_GT(connected, tried / 2);
}

TEST(emulated_programs, neighbours_do_the_work_of_missing_nodes_and_the_results_are_the_same) {
  for (const spread& layout : {spread{1, 1}, spread{3, 2, "rotate"}}) {
    nacre::config configuration;
    configuration.set("ranks", std::to_string(layout.ranks));
    configuration.set("workers", std::to_string(layout.workers));
    configuration.set("balancer", layout.balancer);
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           emulated_machine machine = petaflops(5ns);
                           machine.grid = {5, 4, 4};
                           machine.threads = 4;
                           machine.topology = nacre::emulated_topology::torus;
                           const nacre::emulation_options options{.blocks = all_blocks, .moves = always};
                           const auto whole_sweeps = emulate::run_jacobi(rt, machine, {.steps = 9}, options);
                           const auto whole_atoms = emulate::run_md(rt, machine, {.steps = 10}, options);
                           machine.missing = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {4, 3, 3}, {2, 2, 2}};
                           const auto sweeps = emulate::run_jacobi(rt, machine, {.steps = 9}, options);
                           const auto atoms = emulate::run_md(rt, machine, {.steps = 10}, options);
                           EXPECT_EQ(sweeps.error + atoms.error, "");
                           EXPECT_EQ(sweeps.digest, whole_sweeps.digest);
                           EXPECT_EQ(atoms.digest, whole_atoms.digest);
                           EXPECT_GT(sweeps.run.time(), whole_sweeps.run.time());
                           EXPECT_GT(atoms.run.time(), whole_atoms.run.time());
                         }),
              0);
  }
}

TEST(emulated_programs, the_command_line_reads_times_and_grids_and_refuses_others) {
  EXPECT_EQ(emulate::parse_time("75ns"), 75ns);
  EXPECT_EQ(emulate::parse_time("0.5us"), 500ns);
  EXPECT_EQ(emulate::parse_time("2s"), 2s);
  for (const char* wrong : {"", "75", "ns", "1.5ns", "-1us", "1 us", "1us ", "1e30s", "nanns"}) {
    EXPECT_EQ(emulate::parse_time(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(emulate::parse_grid("34x34x36"), (nacre::coordinates{34, 34, 36}));
  EXPECT_EQ(emulate::parse_grid("7"), (nacre::coordinates{7, 1, 1}));
  for (const char* wrong : {"", "x", "3x", "3x0x1", "-3", "3x3x3x3", "3 x 3", "a"}) {
    EXPECT_EQ(emulate::parse_grid(wrong), std::nullopt) << wrong;
  }
}

TEST(emulated_programs, a_variant_replaces_and_adds_options) {
  const auto parse = [](std::vector<const char*> words) {
    return emulate::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  const auto parsed = parse({"emulate", "--program", "line", "--hop", "5ns", "--grid=4x4x4", "--against",
                             "hop=1ns grid=2x2x2 turns=counted contention bandwidth=1e9", "--threads", "7"});
  ASSERT_FALSE(parsed.exit_code);
  ASSERT_NE(parsed.asked.variant, nullptr);
  EXPECT_EQ(parsed.asked.machine.hop, 5ns);
  EXPECT_EQ(parsed.asked.machine.grid, (nacre::coordinates{4, 4, 4}));
  const emulated_machine& other = parsed.asked.variant->machine;
  EXPECT_EQ(other.hop, 1ns);
  EXPECT_EQ(other.grid, (nacre::coordinates{2, 2, 2}));
  EXPECT_EQ(other.turns, nacre::turn_rule::counted);
  EXPECT_TRUE(other.contention);
  EXPECT_EQ(other.threads, 7U);
  EXPECT_EQ(parsed.asked.variant->variant, nullptr);
  EXPECT_EQ(parse({"emulate", "--program", "line", "--against", "hip=1ns"}).exit_code, 2);
  EXPECT_EQ(parse({"emulate", "--program", "line"}).asked.variant, nullptr);
}

TEST(emulated_programs, a_machine_that_comes_through_a_pipe_is_not_read_twice) {
  const std::string path = testing::TempDir() + "nacre_emulate_pipe_" + std::to_string(getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::vector<const char*> words{"emulate",   "--program", "line",   "--machine",
                                       path.data(), "--against", "hop=1ns"};
  EXPECT_THROW(static_cast<void>(emulate::parse_command_line(static_cast<int>(words.size()), words.data())),
               nacre::setup_error);
  EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST(emulated_programs, no_two_outputs_are_one_file) {
  const std::string name = testing::TempDir() + "nacre_emulate_" + std::to_string(getpid());
  const auto parse = [&](const std::string& json, const std::string& profile) {
    const std::vector<const char*> words{"emulate", "--program", "line",      "--grid",      "2x2x2",
                                         "--json",  json.data(), "--profile", profile.data()};
    return emulate::parse_command_line(static_cast<int>(words.size()), words.data());
  };
  EXPECT_THROW(static_cast<void>(parse(name, name)), nacre::setup_error);
  EXPECT_EQ(parse("-", "-").asked.profile_path, "-") << "a file of that name, and standard output";
  EXPECT_EQ(parse(name, name + ".profile").asked.json_path, name);
}

}  // namespace
