// SPDX-License-Identifier: Apache-2.0
// Threads of the program hand work to a rank; all else that they call is refused.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace nacre::tests {
namespace {

config settings(const char* transport, int ranks, int workers) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", std::to_string(workers));
  return configuration;
}

/// Notes whether the numbers of each thread come in order.
struct ledger {
  std::vector<std::uint64_t> last = std::vector<std::uint64_t>(8);
  std::uint64_t sum = 0, disorders = 0;

  void add(std::size_t thread, std::uint64_t number) {
    if (number != last[thread] + 1) ++disorders;
    last[thread] = number;
    sum += number;
  }
  std::uint64_t total() const { return sum; }
  std::uint64_t wrong() const { return disorders; }
  std::string name(std::string subject) const { return subject + "!"; }
  void fail() { throw std::out_of_range("no such row"); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(last, sum, disorders);
  }
};

/// One a rank.
struct counted {
  std::uint64_t sum = 0;
  void add(std::uint64_t number) { sum += number; }
};

std::uint64_t twice(context& ctx, std::uint64_t n) { return 2 * n + ctx.rank().value(); }

task<void> sleep_long(context& ctx) { co_await ctx.sleep(0.05); }

std::uint64_t sum_to(std::uint64_t n) { return n * (n + 1) / 2; }

class submitters : public testing::TestWithParam<const char*> {};

TEST_P(submitters, hand_in_what_several_threads_send_in_the_order_of_each) {
  constexpr std::uint64_t sends = sanitized ? 5'000 : 100'000;
  constexpr std::size_t threads = 4;
  ASSERT_EQ(run(settings(GetParam(), 2, 2),
                [](runtime& rt) {
                  const auto book = rt.broadcast(rt.create<ledger>(), rank_id(0));
                  std::vector<std::thread> others;
                  for (std::size_t each = 0; each < threads; ++each) {
                    others.emplace_back([door = rt.submitter(), book, sender = each + 4 * rt.rank().value()] {
                      for (std::uint64_t n = 1; n <= sends; ++n) door.send<&ledger::add>(book, sender, n);
                    });
                  }
                  rt.wait_quiescence();  // not before the last copy of a door has gone
                  for (std::thread& each : others) each.join();
                  EXPECT_EQ(rt.call<&ledger::total>(book).get(), 2 * threads * sum_to(sends));
                  EXPECT_EQ(rt.call<&ledger::wrong>(book).get(), 0U);
                }),
            0);
}

TEST_P(submitters, get_results_and_errors_of_calls) {
  ASSERT_EQ(
      run(settings(GetParam(), 2, 1),
          [](runtime& rt) {
            const auto book = rt.create<ledger>();
            const auto all = rt.create_group<counted>();
            std::thread other([door = rt.submitter(), book, all, next = rank_id(1 - rt.rank().value())]() mutable {
              for (std::uint64_t n = 0; n < 200; ++n) {
                EXPECT_EQ(door.call<twice>(next, n).get(), 2 * n + next.value());
              }
              EXPECT_EQ(door.call<&ledger::name>(book, "row").get(), "row!");
              EXPECT_EQ(door.call(book, [](const ledger& subject) { return subject.sum; }).get(), 0U);
              EXPECT_EQ(door.call(next, [](context& ctx) { return ctx.rank().value(); }).get(), next.value());
              auto failed = door.call<&ledger::fail>(book);
              EXPECT_TRUE(failed.wait_for(1000));
              EXPECT_THROW(failed.get(), call_error);
              EXPECT_FALSE(failed.valid());
              std::promise<std::string> told, error;
              door.call<&ledger::name>(book, "then").then([&](std::string name) { told.set_value(std::move(name)); });
              door.call<&ledger::fail>(book).then([] {},
                                                  [&](const call_error& reason) { error.set_value(reason.what()); });
              EXPECT_EQ(told.get_future().get(), "then!");
              EXPECT_NE(error.get_future().get().find("no such row"), std::string::npos);
              const with soon{.category = category::communication, .deadline = 1e3};
              EXPECT_EQ(door.call<twice>(soon, next, 3U).get(), 6 + next.value());
              EXPECT_EQ(door.call(soon, next, [](context& ctx) { return ctx.rank().value(); }).get(), next.value());
              EXPECT_THROW(door.call<sleep_long>({.deadline = 1e-3}, next).get(), timeout_error);
              EXPECT_THROW(door.send<twice>(soon, next, 1U), usage_error) << "a message has no deadline";
              door.send<&ledger::add>({.channel = channel::bulk}, book, 0U, 1U);
              EXPECT_TRUE(door.try_send<&ledger::add>({.channel = channel::bulk}, book, 0U, 2U));
              EXPECT_THROW(door.send<twice>(rank_id(7), 1U), usage_error);
              EXPECT_THROW(door.send<&counted::add>(all[rank_id(7)], 1U), usage_error);
              EXPECT_THROW(door.send<&ledger::fail>(mobile_ptr<ledger>()), usage_error) << "and the job goes on";
              EXPECT_THROW(static_cast<void>(door.call<&ledger::total>(mobile_ptr<ledger>())), usage_error);
              door.close();
              EXPECT_THROW(door.send<&ledger::add>(book, 1U, 1U), usage_error);
            });
            rt.wait_quiescence();
            other.join();
          }),
      0);
}

TEST_P(submitters, are_used_by_main_and_by_handlers_and_callbacks_too) {
  ASSERT_EQ(run(settings(GetParam(), 2, 1),
                [](runtime& rt) {
                  submitter door = rt.submitter();
                  const auto book = rt.create<ledger>();
                  for (std::uint64_t n = 1; n <= 20'000; ++n) door.send<&ledger::add>(book, 0U, n);
                  EXPECT_EQ(door.call<&ledger::total>(book).get(), sum_to(20'000));
                  EXPECT_EQ(door.call<&ledger::wrong>(book).get(), 0U);
                  static std::atomic<bool> go_on;
                  go_on = false;
                  rt.barrier();
                  const auto asleep = door.call(rank_id(1 - rt.rank().value()), [](context& ctx) -> task<void> {
                    while (!go_on) co_await ctx.sleep(1e-3);
                  });
                  EXPECT_FALSE(asleep.wait_for(1e-3));
                  rt.barrier();
                  go_on = true;
                  EXPECT_TRUE(asleep.wait_for(1e3));
                  asleep.wait();
                  rt.with_exclusive(book, [&](ledger&) {
                    for (int n = 0; n < 20'000; ++n) door.send<&ledger::name>(book, "not at once");
                  });
                  std::atomic<int> chained{0};
                  std::thread other([door, book, &chained]() mutable {
                    for (int n = 0; n < 1000; ++n) {
                      door.call<&ledger::total>(book).then([door, book, &chained](std::uint64_t) {
                        door.send<&ledger::name>(book, "again");
                        door.call<&ledger::wrong>(book).then([&chained](std::uint64_t) { ++chained; });
                      });
                    }
                    door.close();
                  });
                  door.close();
                  rt.wait_quiescence();
                  other.join();
                  EXPECT_EQ(chained, 1000);
                }),
            0);
}

TEST_P(submitters, wait_while_the_rank_has_too_much_or_are_refused) {
  static std::atomic<bool> go_on;
  go_on = false;
  ASSERT_EQ(run(settings(GetParam(), 1, 1),
                [](runtime& rt) {
                  std::thread other([door = rt.submitter(), sender = rt.rank()] {
                    std::uint64_t sent = 0;
                    door.send(sender, [] {
                      while (!go_on) std::this_thread::yield();
                    });
                    while (door.try_send<twice>(sender, 1U)) ++sent;
                    EXPECT_GT(sent, 1000U);
                    while (door.try_call<twice>(sender, 1U).valid()) continue;  // the rank takes some meanwhile
                    go_on = true;
                    EXPECT_EQ(door.call<twice>(sender, 1U).get(), 2U);
                    for (int i = 0; i < 10'000; ++i) door.send<twice>(sender, 1U);
                  });
                  rt.wait_quiescence();
                  other.join();
                }),
            0);
}

TEST_P(submitters, take_no_more_than_some_memory_however_long_the_arguments_are) {
  static std::atomic<bool> go_on;
  go_on = false;
  ASSERT_EQ(run(settings(GetParam(), 1, 1),
                [](runtime& rt) {
                  std::thread other([door = rt.submitter(), own = rt.rank(), book = rt.create<ledger>()] {
                    const std::string megabyte(std::size_t{1} << 20, 'x');
                    door.send(own, [] {
                      while (!go_on) std::this_thread::yield();
                    });
                    int calls = 0;
                    while (door.try_call<&ledger::name>(book, megabyte).valid()) ++calls;
                    EXPECT_GE(calls, 16) << "send_memory";
                    EXPECT_LT(calls, 200);
                    go_on = true;
                    EXPECT_EQ(door.call<&ledger::name>(book, megabyte).get().size(), megabyte.size() + 1);
                  });
                  rt.wait_quiescence();
                  other.join();
                }),
            0);
}

TEST_P(submitters, are_opened_again_and_again) {
  ASSERT_EQ(
      run(settings(GetParam(), 2, 1),
          [](runtime& rt) {
            const auto book = rt.create<ledger>();
            for (std::uint64_t round = 1; round <= 50; ++round) {
              std::thread([door = rt.submitter(), book, round] { door.send<&ledger::add>(book, 0U, round); }).detach();
              rt.wait_quiescence();
              EXPECT_EQ(rt.call<&ledger::total>(book).get(), sum_to(round));
            }
          }),
      0);
}

INSTANTIATE_TEST_SUITE_P(everywhere, submitters, testing::Values("inproc"),
                         [](const auto& given) { return std::string(given.param); });

std::uint64_t sleeps_so_far() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_nvcsw);
}

/// A service that nobody asks anything costs nothing: neither does it look again and again whether the job is quiet.
TEST(submitters_that_nobody_uses, let_their_ranks_sleep) {
  ASSERT_EQ(run(settings("inproc", 2, 1),
                [](runtime& rt) {
                  std::thread other;
                  if (rt.rank().value() == 0) {
                    other = std::thread([door = rt.submitter()] {
                      ::poll(nullptr, 0, 200);  // until all sleep
                      const auto begin = std::chrono::steady_clock::now();
                      const std::uint64_t previous = sleeps_so_far();
                      ::poll(nullptr, 0, 500);
                      const std::uint64_t sleeps = sleeps_so_far() - previous;
                      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
                      EXPECT_LT(static_cast<double>(sleeps), 500 * taken.count()) << "a second";
                    });
                  }
                  rt.wait_quiescence();
                  if (other.joinable()) other.join();
                }),
            0);
}

/// Runs `action` on a thread of its own, and returns the text of the usage_error that it throws.
std::string refusal_of(const std::function<void()>& action) {
  std::string text = "nothing was thrown";
  std::thread([&] {
    try {
      action();
    } catch (const usage_error& error) {
      text = error.what();
    }
  }).join();
  return text;
}

TEST(threads_of_the_program, are_told_of_the_submitter) {
  ASSERT_EQ(run(settings("inproc", 1, 1),
                [](runtime& rt) {
                  const auto book = rt.create<ledger>();
                  const auto grid = rt.create_array<ledger>(extents{4});
                  auto result = rt.call<&ledger::total>(book);
                  const std::vector<std::function<void()>> all{
                      [&] { rt.send<&ledger::add>(book, 0U, 1U); },
                      [&] { rt.send<twice>(rank_id(0), 1U); },
                      [&] { static_cast<void>(rt.call<&ledger::total>(book)); },
                      [&] { rt.send<&ledger::add>(grid[1], 0U, 1U); },
                      [&] { rt.send<&ledger::add>(grid, 0U, 1U); },
                      [&] { static_cast<void>(result.get()); },
                      [&] { static_cast<void>(result.wait_for(0.1)); },
                      [&] { static_cast<void>(rt.create<ledger>()); },
                      [&] { rt.migrate(book, rank_id(0)); },
                      [&] { rt.destroy(book); },
                      [&] { rt.barrier(); },
                      [&] { rt.wait_quiescence(); },
                      [&] { rt.with_exclusive(book, [](ledger&) {}); },
                      [&] { static_cast<void>(rt.submitter()); },
                      [&] { static_cast<void>(rt.create_array<ledger>(extents{2})); },
                      [&] { rt.sleep(0.1).wait(); },
                  };
                  for (std::size_t each = 0; each < all.size(); ++each) {
                    EXPECT_NE(refusal_of(all[each]).find("submitter"), std::string::npos)
                        << each << ": " << refusal_of(all[each]);
                  }
                  EXPECT_EQ(result.get(), 0U);
                  rt.wait_quiescence();
                }),
            0);
}

TEST(threads_of_the_program, get_no_door_to_a_simulation) {
  ASSERT_EQ(
      run(settings("sim", 1, 1), [](runtime& rt) { EXPECT_THROW(static_cast<void>(rt.submitter()), usage_error); }), 0);
}

TEST(threads_of_the_program, and_handlers_are_told_what_a_submitter_cannot_do) {
  submitter kept;
  EXPECT_THROW(kept.send<twice>(rank_id(0), 1U), usage_error) << "it is closed";
  ASSERT_EQ(run(settings("inproc", 1, 1),
                [&](runtime& rt) {
                  static submitter door;
                  door = rt.submitter();
                  const std::string refused = rt.call(rt.rank(), [](context& ctx) -> std::string {
                                                  const auto called = door.call<twice>(ctx.rank(), 1U);
                                                  try {
                                                    called.wait();
                                                  } catch (const usage_error& error) {
                                                    return error.what();
                                                  }
                                                  return "nothing was thrown";
                                                }).get();
                  EXPECT_NE(refused.find("co_await"), std::string::npos) << refused;
                  door.close();
                }),
            0);
}

}  // namespace
}  // namespace nacre::tests
