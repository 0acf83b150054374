// SPDX-License-Identifier: Apache-2.0
// A job that waits for a handler or a main that does not return says which it is, on real ranks and simulated.
//
// The executable is its own rank program: `unreturned_mp_test --as-SOMETHING`.
#include <gtest/gtest.h>

#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "small_jobs.hpp"
#include "transports.hpp"

namespace {

std::promise<int> answer;

/// Waits by a means of its own.
struct stubborn {
  void spin() {
    for (volatile bool ever = true; ever;) continue;
  }
  int wait() { return answer.get_future().get(); }
  template <class Archive>
  void serialize(Archive&) {}
};

void fulfil() { answer.set_value(7); }

}  // namespace

namespace nacre::tests {
namespace {

constexpr std::chrono::milliseconds deadlock_patience{800};
constexpr std::chrono::milliseconds long_patience{3000};  // of a job that must not lose its processors for so long

// ---- what ranks do

rank_id last_of(const runtime& rt) { return rank_id(rt.size() - 1); }

void spin_in_a_handler(runtime& rt) {
  if (rt.rank() == rank_id(0)) rt.send<&stubborn::spin>(rt.create_on<stubborn>(last_of(rt)).get());
  rt.wait_quiescence();
}

/// The message that would end the wait is behind it, on the only worker.
void wait_in_a_handler(runtime& rt) {
  if (rt.rank() != last_of(rt)) return;
  auto waits = rt.call<&stubborn::wait>(rt.create<stubborn>());
  rt.send<fulfil>(rt.rank());
  waits.get();
}

void wait_in_main(runtime& rt) {
  if (rt.rank() == last_of(rt)) static_cast<void>(answer.get_future().get());
}

void sleep_for_long() { ::poll(nullptr, 0, static_cast<int>(6 * deadlock_patience.count())); }

void take_long_in_a_handler(runtime& rt) {
  if (rt.rank() != rank_id(0)) return;
  rt.call<sleep_for_long>(last_of(rt)).get();
  ::poll(nullptr, 0, static_cast<int>(deadlock_patience.count()));  // so that a look comes before the end
}

void work_on(context& ctx, int left) {
  if (left != 0) ctx.send<work_on>(rank_id(0), left - 1);
}
/// One rank computes, but another one works: nobody waits.
void work_beside_a_long_main(runtime& rt) {
  if (rt.rank() != last_of(rt)) return;
  for (int times = 0; times < 45; ++times) {
    ::poll(nullptr, 0, static_cast<int>(long_patience.count() / 30));
    rt.send<work_on>(rank_id(0), 3);
  }
}

void no_time(context& ctx) { ctx.send<no_time>(ctx.rank()); }
void send_without_time(runtime& rt) {
  if (rt.rank() == rank_id(1)) rt.send<no_time>(rt.rank());
  rt.wait_quiescence();
}

int act_as_rank(int argc, char** argv) {
  config configuration = read_config(argc, argv);
  configuration.set("workers", "1", setting_source::program);
  configuration.set("deadlock_patience", std::to_string(deadlock_patience.count()) + "ms", setting_source::program);
  const std::string_view name = argv[1];
  return run(configuration, name == "--as-spinning-handler"  ? spin_in_a_handler
                            : name == "--as-waiting-handler" ? wait_in_a_handler
                            : name == "--as-waiting-main"    ? wait_in_main
                            : name == "--as-long-handler"    ? take_long_in_a_handler
                            : name == "--as-long-main"       ? work_beside_a_long_main
                                                             : send_without_time);
}

// ---- jobs

bool in_one_process(const std::string& transport) { return transport == "inproc" || transport == "sim"; }

/// Standard error comes as standard output.
std::vector<std::string> command_of(const std::string& transport, std::vector<std::string> more) {
  std::vector<std::string> words{"sh", "-c", "exec \"$@\" 2>&1", "sh"};
  if (!in_one_process(transport)) {
    const bench::launcher start = start_of(transport, 2);
    words.insert(words.end(), start.words.begin(), start.words.end());
  }
  words.push_back(own_path());
  words.insert(words.end(), more.begin(), more.end());
  if (in_one_process(transport)) words.insert(words.end(), {"--nacre.ranks=2", "--nacre.transport=" + transport});
  return words;
}

/// What a job says until the line comes.
std::string line_of(const std::string& transport, std::vector<std::string> more) {
  launched job(command_of(transport, std::move(more)));
  job.read_until("turns this line off");
  const std::string said = job.output();
  job.signal(SIGTERM);
  job.end();
  return said;
}

void expect_part(const std::string& said, std::string_view part) {
  EXPECT_NE(said.find(part), std::string::npos) << part << "\nis not in\n" << said;
}

class unreturned : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (in_one_process(GetParam())) return;
    const bench::launcher start = start_of(GetParam(), 2);
    if (!start.missing.empty()) GTEST_SKIP() << start.missing;
  }
};

TEST_P(unreturned, a_handler_that_never_ends_is_named) {
  for (const char* progress : {"--nacre.progress=shared", "--nacre.progress=dedicated"}) {
    const std::string said = line_of(GetParam(), {"--as-spinning-handler", progress});
    expect_part(said, "nacre: the job waits for code that has not returned for ");
    expect_part(said, "stubborn::spin on object 1:1 on rank 1, worker 0; ");
    expect_part(said, "main waits for quiescence on ranks 0, 1. Code that waits by a lock");
  }
}

TEST_P(unreturned, a_handler_that_keeps_the_only_worker_from_what_it_waits_for_is_named) {
  const std::string said = line_of(GetParam(), {"--as-waiting-handler"});
  expect_part(said, "stubborn::wait on object 1:1 on rank 1, worker 0; ");
  expect_part(said, "main waits for a result on rank 1");
}

TEST_P(unreturned, a_main_that_waits_by_a_promise_is_named) {
  const std::string said = line_of(GetParam(), {"--as-waiting-main"});
  expect_part(said, " after the start: main on rank 1; main has ended on rank 0. Code that waits");
}

TEST_P(unreturned, what_returns_late_is_told_to_go_on_and_what_works_on_is_not_told) {
  launched slow(command_of(GetParam(), {"--as-long-handler"}));
  launched busy(command_of(GetParam(), {"--as-long-main", "--nacre.deadlock_patience=3s"}));
  launched quiet(command_of(GetParam(), {"--as-long-handler", "--nacre.deadlock_patience=0s"}));
  const outcome late = slow.end();
  EXPECT_EQ(code_of(late), 0) << late.output;
  expect_part(late.output, "sleep_for_long on rank 1, worker 0; main waits for a result on rank 0");
  expect_part(late.output, "nacre: work goes on after ");
  for (launched* each : {&busy, &quiet}) {
    const outcome got = each->end();
    EXPECT_EQ(code_of(got), 0) << got.output;
    EXPECT_EQ(got.output.find("not returned"), std::string::npos) << got.output;
  }
}

INSTANTIATE_TEST_SUITE_P(over, unreturned, testing::Values("inproc", "shm", "tcp", "udp", "auto"),
                         [](const auto& each) { return std::string(each.param); });

TEST(unreturned_in_simulation, handlers_and_mains_are_named_with_the_virtual_time) {
  std::string said = line_of("sim", {"--as-spinning-handler"});
  expect_part(said, "nacre: the simulation waits for code that has not returned for ");
  expect_part(said, "stubborn::spin on object 1:1 on rank 1. A simulation has one");
  said = line_of("sim", {"--as-waiting-handler"});
  expect_part(said, "stubborn::wait on object 1:1 on rank 1. A simulation has one thread");
  said = line_of("sim", {"--as-waiting-main"});
  expect_part(said, "main on rank 1. ");
}

TEST(unreturned_in_simulation, what_returns_late_is_told_to_go_on) {
  const outcome late = launched(command_of("sim", {"--as-long-handler"})).end();
  EXPECT_EQ(code_of(late), 0) << late.output;
  expect_part(late.output, "sleep_for_long on rank 1");
  expect_part(late.output, "nacre: the simulation goes on after ");
}

TEST(unreturned_in_simulation, messages_that_take_no_time_for_ever_are_told) {
  const std::string said = line_of("sim", {"--as-one-without-time", "--nacre.sim.latency=0s",
                                           "--nacre.sim.send_overhead=0s", "--nacre.sim.receive_overhead=0s",
                                           "--nacre.sim.gap=0s", "--nacre.sim.jitter=0", "--nacre.sim.cost.factor=0"});
  expect_part(said, "nacre: virtual time stands still at ");
  expect_part(said, " s, for instance of the handler ");
  expect_part(said, "no_time on rank 1. Where nothing takes time");
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]).starts_with("--as-")) return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
