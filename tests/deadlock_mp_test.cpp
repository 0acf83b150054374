// SPDX-License-Identifier: Apache-2.0
// A job of real ranks that stands still says so, and one that only takes its time does not.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/extension.hpp>
#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "small_jobs.hpp"
#include "transports.hpp"

namespace {

/// Asks a friend, who cannot answer before it has asked back.
struct friendly {
  nacre::mobile_ptr<friendly> other;
  void meet(nacre::mobile_ptr<friendly> whom) { other = whom; }
  void sign() {}
  nacre::task<int> answer(nacre::context& ctx) {
    co_await ctx.call<&friendly::sign>(other);
    co_return 1;
  }
  nacre::task<int> ask(nacre::context& ctx) { co_return co_await ctx.call<&friendly::answer>(other); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(other);
  }
};

struct mailbox {
  nacre::awaited<int> letter(int, int value) { return value; }
};

/// One of many objects that each wait for a message with a number of their own, which nobody sends.
struct patient {
  nacre::awaited<> news(int /*step*/) { return {}; }
  nacre::task<void> wait(nacre::context& ctx, int step) { co_await ctx.next<&patient::news>(step); }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Defers every command, and answers none.
class silent final : public nacre::extension {
  void on_command(nacre::extension_host& host, nacre::rank_id, std::uint32_t, std::span<const std::byte>) override {
    static_cast<void>(host.defer());
  }
};

}  // namespace

namespace nacre::tests {
namespace {

constexpr std::chrono::milliseconds deadlock_patience{800};

// ---- what ranks do

void await_oneself(runtime& rt) {
  if (rt.rank() == rank_id(1)) rt.call<&hermit::wait>(rt.create<hermit>()).get();
}

void await_each_other(runtime& rt) {
  auto object = rt.create<friendly>();
  const auto other = rt.broadcast(object, rank_id(1));
  if (rt.rank() != rank_id(0)) return rt.barrier();
  rt.call<&friendly::meet>(object, other).get();
  rt.call<&friendly::meet>(other, object).get();
  rt.call<&friendly::ask>(object).get();
}

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Two ranks of this process in a deadlock. Tells by the exit code whether they take less than a tenth of a processor.
void sleep_in_deadlock(runtime& rt) {
  if (rt.rank() == rank_id(0)) {
    std::thread([] {
      ::poll(nullptr, 0, 300);  // until they wait
      const auto begin = std::chrono::steady_clock::now();
      const double previous = processor_seconds();
      ::poll(nullptr, 0, 1000);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      std::_Exit(processor_seconds() - previous < 0.1 * taken.count() ? 0 : 3);
    }).detach();
  }
  const auto object = rt.create<friendly>();
  const auto other = rt.broadcast(object, rank_id(1));
  if (rt.rank() != rank_id(0)) return;
  rt.call<&friendly::meet>(object, other).get();
  rt.call<&friendly::meet>(other, object).get();
  rt.call<&friendly::ask>(object).get();
}

void command_a_silent_module(runtime& rt) {
  if (rt.rank() == rank_id(1)) rt.extension("silent").command(rank_id(2), 7).get();
}

/// All that anyone has sent has run.
void ask_for_a_message_that_nobody_sends(runtime& rt) {
  const auto boxes = rt.create_group<mailbox>();
  if (rt.rank() == rank_id(0)) rt.send<&mailbox::letter>(boxes[rank_id(1)], 4, 1);
  rt.wait_quiescence();
  if (rt.rank() == rank_id(1)) static_cast<void>(rt.next<&mailbox::letter>(boxes, 5).get());
}

/// Rank r has the objects that wait for r + 1, r + 1 + ranks, and so on, the last number first.
void await_many_messages(runtime& rt) {
  constexpr int waits = 90;
  const int ranks = static_cast<int>(rt.size());
  for (int step = waits - ranks + static_cast<int>(rt.rank().value()) + 1; step > 0; step -= ranks) {
    rt.send<&patient::wait>(rt.create<patient>(), step);
  }
  rt.wait_quiescence();
}

void sleep_for_long() { ::poll(nullptr, 0, static_cast<int>(3 * deadlock_patience.count())); }

/// One rank runs a handler, the others wait for it in all ways.
void wait_for_a_slow_handler(runtime& rt) {
  if (rt.rank() == rank_id(0)) rt.call<sleep_for_long>(rank_id(1)).get();
  if (rt.rank() == rank_id(2)) rt.barrier();
  rt.wait_quiescence();
  if (rt.rank() != rank_id(2)) rt.barrier();
}

/// Main of one rank computes, or waits for what Nacre does not know of, while a handler waits for its message.
void wait_for_a_slow_main(runtime& rt) {
  if (rt.rank() == rank_id(2)) sleep_for_long();
  rt.barrier();
}

int act_as_rank(int argc, char** argv) {
  config configuration = read_config(argc, argv);
  configuration.set("workers", "2", setting_source::program);
  configuration.set("deadlock_patience", std::to_string(deadlock_patience.count()) + "ms", setting_source::program);
  register_extension("silent", [](const config&) { return std::make_unique<silent>(); });
  const std::string_view name = argv[1];
  return run(configuration, name == "--as-one-that-awaits-itself"      ? await_oneself
                            : name == "--as-two-that-await-each-other" ? await_each_other
                            : name == "--as-two-that-sleep"            ? sleep_in_deadlock
                            : name == "--as-one-that-commands"         ? command_a_silent_module
                            : name == "--as-one-that-asks"             ? ask_for_a_message_that_nobody_sends
                            : name == "--as-many-that-await-messages"  ? await_many_messages
                            : name == "--as-slow-handler"              ? wait_for_a_slow_handler
                                                                       : wait_for_a_slow_main);
}

// ---- jobs

/// Standard error comes as standard output.
std::vector<std::string> command_of(const std::string& transport, int ranks, std::vector<std::string> more) {
  std::vector<std::string> words{"sh", "-c", "exec \"$@\" 2>&1", "sh"};
  if (transport != "inproc") {
    const bench::launcher start = start_of(transport, ranks);
    words.insert(words.end(), start.words.begin(), start.words.end());
  }
  words.push_back(own_path());
  words.insert(words.end(), more.begin(), more.end());
  if (transport == "inproc") words.push_back("--nacre.ranks=" + std::to_string(ranks));
  return words;
}

/// What a job says until it tells that it stands still.
std::string line_of(const std::string& transport, int ranks, std::vector<std::string> more) {
  launched job(command_of(transport, ranks, std::move(more)));
  job.read_until("turns this line off");
  const std::string said = job.output();
  job.signal(SIGTERM);
  job.end();
  return said;
}

void expect_part(const std::string& said, std::string_view part) {
  EXPECT_NE(said.find(part), std::string::npos) << part << "\nis not in\n" << said;
}

class deadlock : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string transport = GetParam();
    if (transport == "inproc") return;
    const bench::launcher start = start_of(transport, 3);
    if (!start.missing.empty()) GTEST_SKIP() << start.missing;
    ignore_foreign_leaks(transport);
  }
};

TEST_P(deadlock, of_a_handler_that_awaits_its_own_object_names_it) {
  const std::string said = line_of(GetParam(), 6, {"--as-one-that-awaits-itself"});
  expect_part(said, "nacre: nothing has happened for ");
  expect_part(said, "though 2 messages have not been dealt with to the end and 2 calls have no result: ");
  expect_part(said, "hermit::wait on object 1:1 on rank 1 awaits a handler of its own object; ");
  expect_part(said, "main waits for a result on rank 1, main has ended on ranks 0, 2, 3, 4 and 1 more. ");
}

TEST_P(deadlock, is_seen_though_ranks_go_on_asking_each_other_for_work) {
  const std::string said =
      line_of(GetParam(), 3, {"--as-one-that-awaits-itself", "--nacre.balancer=steal", "--nacre.balance.tick=1ms"});
  expect_part(said, "awaits a handler of its own object");
}

TEST_P(deadlock, of_objects_that_await_each_other_over_ranks_names_both) {
  const std::string said = line_of(GetParam(), 3, {"--as-two-that-await-each-other"});
  expect_part(said, "though 3 messages have not been dealt with to the end and 3 calls have no result: ");
  expect_part(said, "friendly::ask on object 0:1 on rank 0 awaits a call, messages that wait for the object: 1; ");
  expect_part(said, "friendly::answer on object 1:1 on rank 1 awaits a call; ");
  expect_part(said, "main waits for a result on rank 0, main waits in a collective on ranks 1, 2. ");
}

TEST_P(deadlock, of_a_command_that_a_module_has_deferred_names_both) {
  const std::string said = line_of(GetParam(), 3, {"--as-one-that-commands"});
  expect_part(said, " and 1 command to extension modules has no answer: ");
  expect_part(said, "the extension module silent on rank 2 has deferred command 7 of rank 1 and not answered it; ");
  expect_part(said, "main waits for a result on rank 1, main has ended on ranks 0, 2. ");
  expect_part(said, "A command that a module has deferred waits until the module answers it by reply or fail");
  EXPECT_EQ(said.find(" call"), std::string::npos) << said;
}

TEST_P(deadlock, of_a_main_that_asks_for_a_message_which_nobody_sends_names_it) {
  const std::string said = line_of(GetParam(), 3, {"--as-one-that-asks"});
  expect_part(said, "though 1 message has not come that main asked for: main of rank 1 awaits ");
  expect_part(said, "mailbox::letter with the number 5 of group 1, and has one with the number 4; ");
  expect_part(said, "Main waits until somebody sends a message with that number");
  expect_part(said, "main waits for a result on rank 1, main has ended on ranks 0, 2. ");
}

TEST_P(deadlock, of_objects_that_await_messages_names_those_of_the_least_numbers) {
  const std::string said = line_of(GetParam(), 3, {"--as-many-that-await-messages"});
  std::size_t rest = 0;
  for (int step = 1; step <= 4; ++step) {
    const std::size_t found_count = said.find("patient::news with the number " + std::to_string(step) + "; ", rest);
    ASSERT_NE(found_count, std::string::npos) << step << "\n" << said;
    rest = found_count;
  }
}

TEST(ranks_in_deadlock, sleep) {
  const outcome got = launched(command_of("inproc", 2, {"--as-two-that-sleep"})).end();
  EXPECT_EQ(code_of(got), 0) << got.output;
}

TEST_P(deadlock, is_not_told_of_a_job_that_waits_for_a_slow_handler_or_main_or_when_nobody_wants_it) {
  std::list<launched> slow_jobs;  // at a time: they wait, for the most part
  for (const char* slow : {"--as-slow-handler", "--as-slow-main"}) {
    for (const char* progress : {"--nacre.progress=shared", "--nacre.progress=dedicated"}) {
      slow_jobs.emplace_back(command_of(GetParam(), 3, {slow, progress}));
    }
  }
  std::vector<std::string> off =
      command_of(GetParam(), 3, {"--as-one-that-awaits-itself", "--nacre.deadlock_patience=0s"});
  off.insert(off.begin(), {"timeout", "-k", "5", "3"});
  const outcome got = launched(off).end();
  EXPECT_NE(code_of(got), 0) << "it stands still";
  EXPECT_EQ(got.output.find("nothing has happened"), std::string::npos) << got.output;
  for (launched& each : slow_jobs) {
    const outcome slow = each.end();
    EXPECT_EQ(code_of(slow), 0) << slow.output;
    EXPECT_EQ(slow.output.find("nothing has happened"), std::string::npos) << slow.output;
  }
}

INSTANTIATE_TEST_SUITE_P(over, deadlock,
                         testing::Values("inproc", "shm", "tcp", "udp", "auto", "ucx", "openmpi", "mpich"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[1]).starts_with("--as-")) return nacre::tests::act_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
