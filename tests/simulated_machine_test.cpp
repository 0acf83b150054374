// SPDX-License-Identifier: Apache-2.0
// A simulated rank has the node of its machine: workers, the cost of a handler, communication threads, input buffers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using nacre::rank_id;
using settings = std::map<std::string, std::string>;
using times_ns = std::vector<std::int64_t>;

constexpr double pause = 10e-6, end_pause = 1e-3;

/// Two nodes, 1000 ns apart; nothing else takes time but what `text` adds.
int run(const std::string& text, const settings& more, const std::function<void(nacre::runtime&)>& main) {
  const std::string path = testing::TempDir() + "nacre_machine_" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << "grid = [2, 1, 1]\nhop = '1us'\n" << text << "\n";
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  configuration.set("balancer", "none");
  configuration.set("sim.machine", path);
  configuration.set("sim.cost.factor", "0");
  for (const auto& [name, value] : more) configuration.set(name, value);
  return nacre::run(configuration, main);
}

times_ns begun;  // a simulation has one thread

std::int64_t ns_of(double seconds) { return std::llround(seconds * 1e9); }

void note(nacre::context& ctx, double cost) {
  begun.push_back(ns_of(ctx.now()));
  ctx.charge(cost);
}

nacre::task<int> nap(nacre::context& ctx, double seconds) {
  co_await ctx.sleep(seconds);
  co_return 0;
}

/// When the handlers of `count` messages ran on rank 1, from the time on at which rank 0 has sent all of them. Nothing
/// else is under way meanwhile.
times_ns handlers_on(const std::string& machine, int count, double cost = 0, const settings& more = {}) {
  begun.clear();
  std::int64_t sent = 0;
  EXPECT_EQ(run(machine, more,
                [&](nacre::runtime& rt) {
                  if (rt.rank() == rank_id(0)) {
                    static_cast<void>(rt.call<&nap>(rt.rank(), pause).get());
                    sent = ns_of(rt.now());
                    for (int number = 0; number < count; ++number) rt.send<&note>(rank_id(1), cost);
                  }
                  static_cast<void>(rt.call<&nap>(rt.rank(), end_pause).get());
                }),
            0);
  for (std::int64_t& each : begun) each -= sent;
  std::sort(begun.begin(), begun.end());
  return begun;
}

TEST(simulated_machine, a_handler_takes_the_constant_cost_besides_what_it_charges) {
  // Messages are there after 1000 and 1001 ns; each handler takes 300 ns, and 200 that it charges.
  const std::string machine = "handler = '300ns'\n";
  EXPECT_EQ(handlers_on(machine + "threads = 1", 2, 200e-9), (times_ns{1000 + 300, 1000 + 500 + 300}));
  EXPECT_EQ(handlers_on(machine + "threads = 2", 2, 200e-9), (times_ns{1000 + 300, 1001 + 300}));
  EXPECT_EQ(handlers_on("threads = 1", 2, 200e-9), (times_ns{1000, 1200})) << "no constant cost";
  EXPECT_EQ(handlers_on(machine + "threads = 1", 2, 200e-9, {{"sim.handler", "0ns"}}), (times_ns{1000, 1200}));
}

TEST(simulated_machine, a_rank_has_the_workers_of_a_node) {
  // Five handlers of 1 us on three worker threads: two wait for the end of the first two.
  const times_ns three = handlers_on("threads = 5\ncommunication_threads = 2\nhandler = '1us'", 5);
  EXPECT_EQ(three, (times_ns{2000, 2001, 2002, 3000, 3001}));
  const times_ns one = handlers_on("threads = 5\ncommunication_threads = 2\nhandler = '1us'", 2, 0, {{"workers", "1"}});
  EXPECT_EQ(one, (times_ns{2000, 3000})) << "the option wins";
}

TEST(simulated_machine, arrivals_beyond_the_rate_of_the_communication_threads_queue) {
  // Messages come 1 ns apart; a communication thread takes 500 ns for each.
  const std::string sim = "\n[sim]\nreceive_overhead = '500ns'\n";
  EXPECT_EQ(handlers_on("threads = 9\ncommunication_threads = 1" + sim, 4), (times_ns{1500, 2000, 2500, 3000}));
  EXPECT_EQ(handlers_on("threads = 9\ncommunication_threads = 2" + sim, 4), (times_ns{1500, 1501, 2000, 2001}));
  EXPECT_EQ(handlers_on("threads = 9\ncommunication_threads = 4" + sim, 4), (times_ns{1500, 1501, 1502, 1503}));
}

TEST(simulated_machine, communication_threads_take_messages_in_while_all_workers_compute) {
  // The only worker runs the first handler from 1000 to 101,000. The answer to a call does not need it.
  const auto answer_ns = [](const std::string& threads) {
    std::int64_t answered = 0;
    EXPECT_EQ(run(threads, {},
                  [&](nacre::runtime& rt) {
                    if (rt.rank() == rank_id(1)) {
                      static_cast<void>(rt.call<&nap>(rt.rank(), pause).get());
                      rt.send<&note>(rt.rank(), 100e-6);
                      const std::int64_t begin = ns_of(rt.now());
                      static_cast<void>(rt.call<&nap>(rank_id(0), 0.0).get());
                      answered = ns_of(rt.now()) - begin;
                    }
                    static_cast<void>(rt.call<&nap>(rt.rank(), end_pause).get());
                  }),
              0);
    return answered;
  };
  EXPECT_GE(answer_ns("threads = 1"), 100'000) << "the worker polls when its handler is over";
  EXPECT_LT(answer_ns("threads = 2\ncommunication_threads = 1"), 2'100);
}

std::uint64_t sum = 0;
void add(nacre::context&, std::uint64_t value) { sum += value; }

TEST(simulated_machine, a_full_input_buffer_loses_nothing_and_keeps_the_order_of_the_seed) {
  const auto all_sent = [](const std::string& buffer) {
    sum = 0;
    constexpr std::uint64_t count = 300;
    double end = 0;
    EXPECT_EQ(run("threads = 3\ncommunication_threads = 1\n[sim]\nreceive_overhead = '300ns'\ninput_buffer = '" +
                      buffer + "'\n",
                  {},
                  [&](nacre::runtime& rt) {
                    for (std::uint64_t value = 1; value <= count; ++value)
                      rt.send<&add>(rank_id(1 - rt.rank().value()), value);
                    rt.wait_quiescence();
                    end = rt.now();
                  }),
              0);
    EXPECT_EQ(sum, count * (count + 1));
    return ns_of(end);
  };
  const std::int64_t narrow = all_sent("100B");
  EXPECT_EQ(all_sent("100B"), narrow);
  EXPECT_GE(narrow, 300 * 300) << "one thread takes 300 messages";
  EXPECT_GT(narrow, all_sent("0B") - 1'000) << "nothing comes earlier for want of room";
}

TEST(simulated_machine, that_makes_no_sense_is_refused_with_a_sentence) {
  testing::internal::CaptureStderr();
  EXPECT_NE(run("threads = 3\ncommunication_threads = 3", {}, [](nacre::runtime&) { ADD_FAILURE(); }), 0);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("communication_threads = 3 of threads = 3"), std::string::npos) << told;
  EXPECT_NE(told.find("leave one worker thread at least"), std::string::npos) << told;
}

TEST(simulated_machine, with_more_ranks_than_memory_is_refused_with_both_numbers) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "1000000");
  configuration.set("workers", "60000");
  testing::internal::CaptureStderr();
  EXPECT_NE(nacre::run(configuration, [](nacre::runtime&) { ADD_FAILURE(); }), 0);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("1000000 simulated ranks of 60000 workers take "), std::string::npos) << told;
  EXPECT_NE(told.find(" GiB are free"), std::string::npos) << told;
  EXPECT_NE(told.find("--nacre.ranks, fewer workers of each with --nacre.workers"), std::string::npos) << told;
}

}  // namespace
