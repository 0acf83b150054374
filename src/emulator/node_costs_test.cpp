// SPDX-License-Identifier: Apache-2.0
// Charges for memory and floating-point units, and put and get, by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

namespace nacre::emulator {
namespace {

using namespace std::chrono_literals;

/// Two processors of eight threads a node.
emulated_machine with_processors() {
  emulated_machine m{.grid = {3, 1, 1}, .threads = 16, .hop = 5ns, .turn = 10ns, .handler = 100ns};
  m.cycle = 2ns;
  return m;
}

template <class Start>
std::chrono::nanoseconds time_of(const emulated_machine& machine, Start start) {
  std::chrono::nanoseconds time{};
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto done = emulate(rt, machine, start, {.blocks = 3});
                  if (rt.rank().value() == 0) time = done.time();
                }),
            0);
  return time;
}

bool is_first(const emulated_node& node) { return node.at() == coordinates{}; }

void read_memory(emulated_node& node) {
  node.charge_accesses({.local_cache = 5, .local_memory = 3, .remote_cache = 2, .remote_memory = 1});
}

TEST(node_costs, accesses_take_the_cycles_of_their_places) {
  const auto start = [](emulated_node& node) {
    for (std::uint32_t thread = 0; thread < 16; ++thread) node.add_task<read_memory>(emulated::thread(thread));
  };
  EXPECT_EQ(time_of(with_processors(), start), 100ns + 2ns * (5 * 10 + 3 * 20 + 2 * 20 + 1 * 30))
      << "threads do not wait for each other's accesses";
  emulated_machine free = with_processors();
  free.cycle = 0ns;
  EXPECT_EQ(time_of(free, start), 100ns);
}

void add_and_multiply(emulated_node& node, std::uint32_t additions, std::uint32_t multiplications) {
  node.charge_floats({.additions = additions, .multiplications = multiplications});
}

TEST(node_costs, threads_of_a_processor_share_its_two_units) {
  const auto of_threads = [](std::uint32_t first, std::uint32_t count, std::uint32_t additions,
                             std::uint32_t multiplications) {
    return time_of(with_processors(), [=](emulated_node& node) {
      if (!is_first(node)) return;
      for (std::uint32_t thread = first; thread < first + count; ++thread) {
        node.add_task<add_and_multiply>(emulated::thread(thread), additions, multiplications);
      }
    });
  };
  // A unit begins an operation each cycle of 2 ns, whose result is there after six.
  EXPECT_EQ(of_threads(0, 1, 100, 0), 100ns + 2ns * (100 + 5));
  EXPECT_EQ(of_threads(0, 1, 100, 60), 100ns + 2ns * (100 + 5)) << "two units at a time";
  EXPECT_EQ(of_threads(0, 8, 100, 0), 100ns + 2ns * (800 + 5)) << "all threads of one processor";
  EXPECT_EQ(of_threads(7, 2, 100, 0), 100ns + 2ns * (100 + 5)) << "threads of two processors";
}

void add_twice(emulated_node& node) {
  node.charge_floats({.additions = 10});
  node.charge_floats({.additions = 10});
}

TEST(node_costs, a_charge_begins_when_the_handler_has_come_so_far) {
  EXPECT_EQ(time_of(with_processors(),
                    [](emulated_node& node) {
                      if (is_first(node)) node.add_task<add_twice>();
                    }),
            100ns + 2 * 2ns * (10 + 5));
}

struct sample {
  std::array<std::int32_t, 20> values{};
};
std::atomic<std::int64_t> got_at{0}, got_value{0};

emulated_task fetch(emulated_node& node) {
  const sample one = co_await node.get<sample>({2, 0, 0});
  got_value = one.values[19];
  got_at = node.now().count();
}
void fill(emulated_node& node) {
  sample one;
  one.values[19] = 77;
  node.put<sample>({2, 0, 0}, one);
}

TEST(node_costs, put_and_get_move_values_between_the_memories_of_nodes) {
  time_of(with_processors(), [](emulated_node& node) {
    if (is_first(node)) node.add_task<fetch>();
  });
  EXPECT_EQ(got_value, 0);
  // The coroutine's first stretch; the packet; the other node's handler; the packet; the handler that takes it.
  EXPECT_EQ(got_at, 100 + 20 + 100 + 20 + 100);
  time_of(with_processors(), [](emulated_node& node) {
    if (node.at().x == 1) node.add_task<fill>();
    if (is_first(node)) node.after<fetch>(500ns);
  });
  EXPECT_EQ(got_value, 77);
  EXPECT_EQ(got_at, 500 + 100 + 20 + 100 + 20 + 100);
}

emulated_task fetch_again(emulated_node& node) {
  try {
    static_cast<void>(co_await node.get<sample>({90, 90, 90}));
  } catch (const usage_error&) {
    got_value = -1;
  }
  const sample one = co_await node.get<sample>({2, 0, 0});
  got_at = one.values[19];
}

TEST(node_costs, a_get_from_a_node_that_there_is_not_leaves_nothing_behind) {
  got_value = got_at = 0;
  time_of(with_processors(), [](emulated_node& node) {
    if (node.at().x == 1) node.add_task<fill>();
    if (is_first(node)) node.after<fetch_again>(500ns);
  });
  EXPECT_EQ(got_value, -1);
  EXPECT_EQ(got_at, 77);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // thread and processor
void note_place(emulated_node& node) { places.emplace_back(node.thread(), node.processor()); }

TEST(node_costs, a_handler_knows_the_processor_of_its_thread) {
  places.clear();
  emulated_machine machine = with_processors();
  machine.threads = 8;
  machine.processor_threads = 4;
  time_of(machine, [](emulated_node& node) {
    if (!is_first(node)) return;
    for (const std::uint32_t thread : {0u, 3u, 4u, 7u}) node.add_task<note_place>(emulated::thread(thread));
  });
  std::sort(places.begin(), places.end());
  EXPECT_EQ(places, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {3, 0}, {4, 1}, {7, 1}}));
}

static_assert(coordinates{std::int64_t{1} << 32, 0, 0} != coordinates{0, 0, 0}, "a number that no grid has stays one");

void charge_too_much(emulated_node& node) { node.charge_accesses({.local_cache = ~std::uint64_t{0}}); }

TEST(node_costs, charges_and_cycles_beyond_all_bounds_are_refused) {
  config configuration;
  configuration.set("ranks", "1");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  EXPECT_THROW(
                      emulate(rt, with_processors(), [](emulated_node& node) { node.add_task<charge_too_much>(); }),
                      usage_error);
                }),
            0);
  const auto refused = [](auto change) {
    emulated_machine machine = with_processors();
    check_machine(machine);
    change(machine);
    EXPECT_THROW(check_machine(machine), setup_error);
  };
  refused([](emulated_machine& m) { m.cycle = -1ns; });
  refused([](emulated_machine& m) { m.processor_threads = 0; });
  refused([](emulated_machine& m) { m.float_cycles = 0; });
  refused([](emulated_machine& m) { m.remote_memory_cycles = 2'000'000; });
}

}  // namespace
}  // namespace nacre::emulator
