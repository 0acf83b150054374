// SPDX-License-Identifier: Apache-2.0
// The node API: states, timers, coroutines, buffers, missing nodes, and the errors of misuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

#include "base/processor_time.hpp"
#include "base/sanitized.hpp"
#include "machine/travel_times.hpp"

namespace nacre::emulator {
namespace {

using namespace std::chrono_literals;

void in_job(const std::function<void(runtime&)>& main, const char* ranks = "2") {
  config configuration;
  configuration.set("ranks", ranks);
  configuration.set("workers", "1");
  EXPECT_EQ(run(configuration, main), 0);
}

/// Runs a program with a misuse that must end the emulation, on every rank, with a text that holds these words.
void expect_error(const emulated_machine& machine, const std::function<void(emulated_node&)>& start,
                  const std::vector<std::string>& words) {
  in_job([&](runtime& rt) {
    try {
      static_cast<void>(emulate(rt, machine, start));
      ADD_FAILURE() << "no error: " << words.front();
    } catch (const usage_error& error) {
      for (const std::string& word : words) {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what() << " lacks " << word;
      }
    }
  });
}

const emulated_machine small{.grid = {4, 3, 2}, .threads = 2, .hop = 5ns, .turn = 10ns, .handler = 100ns};

void send_outside(emulated_node& node) { node.send<send_outside>({node.at().x + 4, 0, 0}); }
void wait_backwards(emulated_node& node) { node.after<wait_backwards>(-1ns); }
void charge_backwards(emulated_node& node) { node.charge(-1ns); }
void wait_for_ever(emulated_node& node) { node.after<wait_for_ever>(24h * 365 * 60); }
void charge_for_ever(emulated_node& node) {
  node.charge(24h * 365 * 60);
  node.after<charge_for_ever>(1ns);
}
void send_to_thread(emulated_node& node) { node.send<send_to_thread>(emulated::thread(2), {0, 0, 0}); }
void fail(emulated_node&) { throw std::runtime_error("out of paper"); }
template <void (*F)(emulated_node&)>
void start_one(emulated_node& node) {
  if (node.at() == coordinates{1, 2, 0}) node.after<F>(7us);
}

void charge_decades(emulated_node& node) { node.charge(24h * 365 * 70); }

TEST(emulation, the_time_of_all_threads_may_be_longer_than_any_time_can_be) {
  in_job([](runtime& rt) {
    const auto done = emulate(rt, small, [](emulated_node& node) { node.after<charge_decades>(1us); });
    EXPECT_EQ(done.counts().busy, std::chrono::nanoseconds::max()) << "24 nodes of 70 years each";
    EXPECT_LT(done.time(), 24h * 365 * 71);
  });
}

TEST(emulation, misuse_is_an_error_that_names_node_thread_and_handler_on_every_rank) {
  expect_error(small, start_one<send_outside>, {"node (1, 2, 0)", "thread 0", "send_outside", "7000 ns", "(5, 0, 0)"});
  expect_error(small, start_one<wait_backwards>, {"node (1, 2, 0)", "wait_backwards", "backwards"});
  expect_error(small, start_one<charge_backwards>, {"node (1, 2, 0)", "charge_backwards", "backwards"});
  expect_error(small, start_one<wait_for_ever>, {"node (1, 2, 0)", "wait_for_ever", "virtual time is over"});
  expect_error(small, start_one<charge_for_ever>, {"node (1, 2, 0)", "charge_for_ever", "virtual time is over"});
  expect_error(small, start_one<send_to_thread>, {"node (1, 2, 0)", "send_to_thread", "no thread 2", "0 to 1"});
  expect_error(small, start_one<fail>, {"node (1, 2, 0)", "fail", "out of paper"});
  expect_error(small,
               [](emulated_node& node) {
                 if (node.at().z == 1) node.charge(-2ns);
               },
               {"node (0, 0, 1)", "the start function"});
  emulated_machine narrow = small;
  narrow.packet_bytes = 8;
  static_assert(sizeof(std::array<double, 2>) > 8);
  expect_error(narrow, [](emulated_node& node) { node.send({0, 0, 0}, std::array<double, 2>{}); }, {"16 bytes", "8"});
}

TEST(emulation, a_machine_that_cannot_be_is_refused_before_anything_runs) {
  const auto refused = [](auto change) {
    emulated_machine machine = small;
    change(machine);
    EXPECT_THROW(check_machine(machine), setup_error);
  };
  refused([](emulated_machine& m) { m.grid.y = 0; });
  refused([](emulated_machine& m) { m.threads = 0; });
  refused([](emulated_machine& m) { m.communication_threads = 2; });
  refused([](emulated_machine& m) { m.hop = -1ns; });
  refused([](emulated_machine& m) { m.hop = m.turn = m.handler = 0ns; });
  refused([](emulated_machine& m) { m.packet_bytes = 129; });
  refused([](emulated_machine& m) { m.missing = {{4, 0, 0}}; });
  refused([](emulated_machine& m) {
    m.grid = {1, 1, 1};
    m.missing = {{0, 0, 0}};
  });
  refused([](emulated_machine& m) { m.bandwidth = -1; });
  check_machine(small);
}

struct heard {
  int values = 0;
  std::int64_t last_ns = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values, last_ns);
  }
};
emulated_task collect(emulated_node& node, int count) {
  for (int k = 0; k < count; ++k) node.state<heard>().values += co_await node.receive<int>();
  co_await node.sleep(1us);
  node.state<heard>().last_ns = node.now().count();
}
void check_heard(emulated_node& node) {
  EXPECT_EQ(node.state<heard>().values, 5 + 6 + 7);
  // The nearest value comes at 15 ns and costs 100; then the coroutine finds the other two, costs 100, and sleeps.
  EXPECT_EQ(node.state<heard>().last_ns, 15 + 100 + 100 + 1000);
}

TEST(emulation, a_coroutine_waits_for_values_and_for_time) {
  emulated_machine machine = small;
  machine.threads = 8;
  in_job([&](runtime& rt) {
    const auto done = emulate(rt, machine, [](emulated_node& node) {
      if (node.at().y != 0 || node.at().z != 0) return;
      if (node.at().x != 0) return node.send({0, 0, 0}, node.at().x + 4);
      node.add_task<collect>(3);
      node.after<check_heard>(1ms);
    });
    EXPECT_EQ(done.messages(), 3u);
    EXPECT_EQ(done.time(), 1ms + 100ns);
  });
}

void sink(emulated_node&) {}
void burst(emulated_node& node) {
  for (int k = 0; k < 10; ++k) node.send<sink>({1, 0, 0});
}

TEST(emulation, a_full_output_buffer_makes_the_sending_thread_wait) {
  emulated_machine machine = small;
  machine.injection = 50ns;
  machine.output_packets = 4;
  in_job([&](runtime& rt) {
    const auto done = emulate(rt, machine, [](emulated_node& node) {
      if (node.at() == coordinates{}) node.add_task<burst>();
    });
    // Of ten packets the first enters at once, as do three more; each of the others waits for one to have left.
    EXPECT_EQ(done.counts().stalled, 6u);
    EXPECT_EQ(done.counts().stall, 6 * 50ns);
    // The last leaves at 100 + 500, and its handler runs for 100.
    EXPECT_EQ(done.time(), 600ns + 15ns + 100ns);
  });
}

TEST(emulation, packets_beyond_the_input_buffer_wait_in_the_network) {
  emulated_machine machine = small;
  machine.input_packets = 3;
  in_job([&](runtime& rt) {
    const auto done = emulate(rt, machine, [](emulated_node& node) {
      if (node.at() == coordinates{}) node.add_task<burst>();
    });
    EXPECT_EQ(done.counts().held_back, 10u - 2 - 3);
    EXPECT_EQ(done.time(), 100ns + 15ns + 5 * 100ns);
  });
}

TEST(emulation, packets_go_around_missing_nodes_and_none_goes_to_one) {
  emulated_machine machine{.grid = {5, 5, 1}, .hop = 10ns, .turn = 1ns, .handler = 100ns};
  machine.missing = {{1, 0, 0}, {2, 0, 0}, {2, 1, 0}};
  machine.turns = turn_rule::counted;
  const machine::travel_times times(machine);
  const machine::route route = times.route_of({0, 0, 0}, {4, 0, 0});
  EXPECT_EQ(route.hops, 8u);  // up two rows, over, and down two
  EXPECT_EQ(route.turns, 2u);
  const machine::route straight = times.route_of({0, 3, 0}, {4, 3, 0});
  EXPECT_EQ(straight.hops, 4u);
  EXPECT_EQ(straight.turns, 0u);
  expect_error(machine,
               [](emulated_node& node) {
                 if (node.at() == coordinates{}) node.send<sink>({2, 1, 0});
               },
               {"(2, 1, 0)", "missing"});
  machine.missing = {{1, 0, 0}, {0, 1, 0}};
  expect_error(machine,
               [](emulated_node& node) {
                 if (node.at() == coordinates{}) node.send<sink>({4, 4, 0});
               },
               {"no way"});
}

TEST(emulation, a_dragonfly_joins_its_groups_by_single_links) {
  emulated_machine machine{.grid = {9, 8, 1}, .hop = 10ns, .turn = 3ns, .handler = 100ns};
  machine.topology = emulated_topology::dragonfly;
  machine.switch_ports = 2;  // routers of 2 nodes, groups of 4 routers, 9 groups
  const machine::travel_times times(machine);
  EXPECT_EQ(times.route_of({0, 0, 0}, {1, 0, 0}).hops, 1u);  // the same router
  EXPECT_EQ(times.route_of({0, 0, 0}, {7, 0, 0}).hops, 2u);  // the same group
  EXPECT_EQ(times.route_of({0, 0, 0}, {8, 0, 0}).hops, 2u);  // node 8: the router at the other end of the link
  EXPECT_EQ(times.route_of({0, 0, 0}, {8, 7, 0}).hops, 4u);  // node 71: neither of the routers has the link
  machine.grid = {73, 1, 1};
  try {
    check_machine(machine);
    ADD_FAILURE() << "73 nodes of 72";
  } catch (const setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("joins 72 nodes, not 73"), std::string::npos) << error.what();
  }
}

void compute(emulated_node& node, std::uint32_t rounds) {
  for (std::uint32_t k = 0; k < rounds; ++k)
    node.state<std::uint64_t>() = node.state<std::uint64_t>() * 25214903917 + 11;
}

TEST(emulation, handlers_cost_what_they_take_here_where_the_machine_measures) {
  const auto time_of = [](double factor, std::uint32_t rounds) {
    emulated_machine machine{.grid = {2, 1, 1}, .hop = 5ns, .turn = 5ns, .handler = 100ns};
    machine.measured = factor;
    std::chrono::nanoseconds end{};
    in_job(
        [&](runtime& rt) {
          const auto start = [rounds](emulated_node& node) {
            if (node.at().x == 0) node.send<compute>({1, 0, 0}, rounds);
          };
          end = emulate(rt, machine, start).time();
        },
        "1");
    return end;
  };
  EXPECT_EQ(time_of(0, 1'000'000), 110ns);
  // No processor does ten multiplications in a nanosecond, each after the other.
  EXPECT_GT(time_of(1, 1'000'000), 100us);
  EXPECT_GT(time_of(1000, 1'000'000), 100ms);
}

TEST(emulation, start_functions_cost_what_they_take_here_where_the_machine_measures) {
  const auto time_of = [](double factor) {
    emulated_machine machine{.grid = {2, 1, 1}, .hop = 5ns, .turn = 5ns, .handler = 100ns};
    machine.measured = factor;
    std::chrono::nanoseconds end{};
    in_job(
        [&](runtime& rt) {
          const auto start = [](emulated_node& node) {
            if (node.at().x == 0) compute(node, 1'000'000);
          };
          end = emulate(rt, machine, start).time();
        },
        "1");
    return end;
  };
  EXPECT_EQ(time_of(0), 0ns);
  EXPECT_GT(time_of(1), 100us);
}

void go_on(emulated_node& node, std::uint32_t left) {
  if (left != 0) node.add_task<go_on>(left - 1);
}

TEST(emulation, empty_handlers_are_not_charged_for_the_looks_at_the_clock) {
  if (tests::sanitized) GTEST_SKIP() << "a sanitizer's own work between two looks is longer than they are";
  constexpr std::uint32_t handlers = 2000;
  const emulated_machine machine{.grid = {1, 1, 1}, .hop = 5ns, .turn = 5ns, .handler = 100ns, .measured = 1};
  const std::chrono::nanoseconds not_charged = handlers * (machine.handler + cost_of_processor_time() / 2);
  std::chrono::nanoseconds least = 1h;  // other programs disturb most runs on a busy machine, but not all
  for (int run = 0; run < 200 && least >= not_charged; ++run) {
    in_job(
        [&](runtime& rt) {
          const auto start = [](emulated_node& node) { node.add_task<go_on>(handlers - 1); };
          least = std::min(least, emulate(rt, machine, start).time());
        },
        "1");
  }
  EXPECT_LT(least, not_charged);
}

emulated_machine read_text(const std::string& text) {
  const std::string path = ::testing::TempDir() + "nacre_machine_" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << text;
  return emulated_machine::from_file(path);
}

TEST(emulation, a_machine_is_read_from_a_file) {
  const emulated_machine m = read_text(
      "grid = [34, 34, 36]\nthreads = 200\nhop = '5ns'\nturn = '0.075us'\nhandler = '1us'\ntopology = 'torus'\n"
      "turns = 'counted'\nbandwidth = 1e9\ncontention = true\nmissing = [[1, 2, 3]]\n");
  EXPECT_EQ(m.grid, (coordinates{34, 34, 36}));
  EXPECT_EQ(m.threads, 200u);
  EXPECT_EQ(m.turn, 75ns);
  EXPECT_EQ(m.topology, emulated_topology::torus);
  EXPECT_EQ(m.turns, turn_rule::counted);
  EXPECT_TRUE(m.contention);
  EXPECT_EQ(m.missing, (std::vector<coordinates>{{1, 2, 3}}));
}

TEST(emulation, a_malformed_machine_file_is_refused_with_its_line) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"grid = [3, 3, 3]\nthread = 4\n", ":2: a machine has no thread"},
      {"grid = [3, 3, 3]\nhop = 5\n", ":2: hop is not a time"},
      {"grid = [3, 3, 3]\n\nhop = '5 ns'\n", ":3: hop is not a time"},
      {"grid = [3, 3, 3]\nhop = '0.5ns'\n", ":2: hop is not a time"},
      {"grid = [3, 3]\n", ":1: grid is not a list of three"},
      {"grid = '3x3x3'\n", ":1: grid is not a list of three"},
      {"grid = [3, 3, 'a']\n", ":1: grid is not a whole number"},
      {"grid = [3, 3, 3]\nthreads = -1\n", ":2: threads is not a whole number"},
      {"grid = [3, 3, 3]\nthreads = 1.5\n", ":2: threads is not a whole number"},
      {"grid = [3, 3, 3]\ntopology = 'ring'\n", ":2: topology is not one of"},
      {"grid = [3, 3, 3]\nmeasured = '2'\n", ":2: measured is not a number"},
      {"grid = [3, 3, 3]\nhop = '5ns'\nmeasured = -1\n", "measured = -1"},
      {"grid = [3, 3, 3]\ncontention = 1\n", ":2: contention is not true or false"},
      {"grid = [3, 3, 3]\nhop = '5ns'\ncontention = true\n", "contention without a bandwidth"},
      {"grid = [3, 3, 3]\nbandwidth = nan\n", ":2: bandwidth is not a finite number"},
      {"grid = [3, 3, 3]\nmissing = [1, 2, 3]\n", ":2: missing is not a list of three"},
      {"grid = [3, 3, 3\nhop = '5ns'\n", ".toml:"},
      {"grid = [3, 3, 3]\nhop = '5ns'\nhop = '6ns'\n", ":3"},
      {"threads = 4\nhop = '5ns'\n", "it has no grid"},
      {"grid = [3, 3, 3]\n", "takes no time"},
      {"grid = [3, 3, 3]\n[machine]\nhop = '5ns'\n", ":2: a machine has no machine"},
      {"a = " + std::string(100, '[') + "\n", ":1: tables, lists"}};
  for (const auto& [text, words] : wrong) {
    try {
      static_cast<void>(read_text(text));
      ADD_FAILURE() << "accepted: " << text;
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(static_cast<void>(emulated_machine::from_file("there/is/none.toml")), setup_error);
  EXPECT_THROW(static_cast<void>(emulated_machine::from_file(::testing::TempDir())), setup_error);
}

}  // namespace
}  // namespace nacre::emulator
