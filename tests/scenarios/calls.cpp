// SPDX-License-Identifier: Apache-2.0
// Messages, calls and futures between ranks: results, errors, what awaits them, and misuse.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

void greet(context& ctx, std::string name) {
  board_of(ctx.rank()).sum += ctx.source().value() + name.size();
  ++board_of(ctx.rank()).seen;
}
void blob(context& ctx, std::span<const double> view) { board_of(ctx.rank()).sum += view.size(); }
double dot(std::vector<double> a, std::vector<double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void messages_and_calls(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const rank_id next = next_of(rt);
  rt.send<greet>(next, "world");
  rt.send<greet>(with{.category = category::communication, .channel = channel::system}, next, "fast");
  rt.send<greet>(to_all, "everyone");
  future<double> f = rt.call<dot>(next, std::vector<double>{1, 2}, std::vector<double>{3, 4});
  f.wait();
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(f.get(), 11);
  const std::vector<double> data(100, 1.0);
  rt.send<blob>(next, std::span<const double>(data));
  rt.wait_quiescence();
  const std::uint64_t n = rt.size();
  EXPECT_EQ(total(rt, &board::seen), n * (2 + n));
  EXPECT_EQ(total(rt, &board::sum), n * (5 + 4 + 100) + n * n * 8 + (n * (n - 1) / 2) * (2 + n));
}

std::vector<int> squared(std::vector<int> values) {
  for (int& each : values) each *= each;
  return values;
}
int checked(int index) { return std::vector<int>(10, 5).at(static_cast<std::size_t>(index)); }
void do_nothing() {}
int throws_an_int(int) { throw 5; }
int refuse(int number) { throw std::runtime_error("no " + std::to_string(number)); }

task<int> asks(context& ctx, rank_id rank, int index) { co_return co_await ctx.call<checked>(rank, index); }

task<int> asks_many(context& ctx, rank_id rank, int count) {
  std::vector<future<int>> parts;
  for (int index = 0; index < count; ++index) parts.push_back(ctx.call<checked>(rank, index));
  int sum = 0;
  for (const int each : co_await when_all(parts)) sum += each;
  EXPECT_TRUE(parts.empty());
  co_await when_all(std::vector<future<void>>());
  co_return sum;
}

void dropped_futures(runtime& rt, std::uint64_t) {
  drop_futures(rt);
  EXPECT_EQ(rt.call<squared>(next_of(rt), std::vector<int>{3}).get(), std::vector<int>{9});
}

/// The type and the text of the error with which a call fails.
template <class T>
std::string told(future<T> call) {
  try {
    static_cast<void>(call.get());
    return "";
  } catch (const call_error& error) {
    return error.type() + ": " + error.what();
  }
}

void exceptions(runtime& rt, std::uint64_t) {
  const std::string plain = told(rt.call<checked>(next_of(rt), 10));
  EXPECT_EQ(plain.find("std::out_of_range: the handler "), 0U) << plain;
  EXPECT_NE(plain.find("checked"), std::string::npos) << plain;
  const std::string passed_on = told(rt.call<asks>(next_of(rt), rt.rank(), 10));
  EXPECT_EQ(passed_on.find("std::out_of_range: the handler "), 0U) << passed_on;
  EXPECT_NE(passed_on.find("asks"), std::string::npos) << passed_on;
  EXPECT_EQ(told(rt.call<throws_an_int>(next_of(rt), 1)).find(": the handler "), 0U);
  const std::string text = told(rt.call<refuse>(next_of(rt), 7));
  EXPECT_NE(text.find("no 7"), std::string::npos) << text;
  EXPECT_NE(text.find("refuse"), std::string::npos) << text;
}

void many_as_one(runtime& rt, std::uint64_t) {
  EXPECT_EQ(rt.call<asks_many>(next_of(rt), rt.rank(), 10).get(), 50);
  EXPECT_THROW(static_cast<void>(rt.call<asks_many>(next_of(rt), rt.rank(), 11).get()), call_error);
  std::vector<future<std::vector<int>>> parts;
  for (int index = 0; index < 20; ++index) parts.push_back(rt.call<squared>(next_of(rt), std::vector<int>{index}));
  const auto all = when_all(std::move(parts)).get();
  for (int index = 0; index < 20; ++index)
    EXPECT_EQ(all[static_cast<std::size_t>(index)], std::vector<int>{index * index});
  std::vector<future<void>> silent;
  for (int index = 0; index < 5; ++index) silent.push_back(rt.call<do_nothing>(next_of(rt)));
  when_all(std::move(silent)).get();
  EXPECT_TRUE(when_all(std::vector<future<int>>()).get().empty());
  EXPECT_THROW(static_cast<void>(when_all(std::vector<future<int>>(1))), usage_error);
}

std::string wait_in_handler(context& ctx) {
  try {
    static_cast<void>(ctx.call<dot>(ctx.rank(), std::vector<double>{}, std::vector<double>{}).get());
    return "";
  } catch (const usage_error& error) {
    return error.what();
  }
}

void blocking_wait(runtime& rt, std::uint64_t) {
  const std::string text = rt.call<wait_in_handler>(rank_id(0)).get();
  EXPECT_NE(text.find("co_await"), std::string::npos) << text;
}

void misuse_of_calls(runtime& rt, std::uint64_t) {
  EXPECT_THROW(rt.send<refuse>(rank_id(rt.size()), 1), usage_error);
  future<double> empty;
  EXPECT_THROW(empty.wait(), usage_error);
}

constexpr std::array calls_table{
    scenario{"messages_and_calls_between_ranks_arrive_and_are_answered", messages_and_calls},
    scenario{"dropped_futures_harm_nothing", dropped_futures},
    scenario{"the_type_of_an_exception_comes_with_its_text", exceptions},
    scenario{"many_futures_are_awaited_as_one", many_as_one},
    scenario{"a_blocking_wait_in_a_handler_is_answered_with_what_to_write_instead", blocking_wait},
    scenario{"misuse_of_ranks_and_futures_is_told_at_once", misuse_of_calls},
};

}  // namespace

void drop_futures(runtime& rt) {
  for (int round = 0; round < 50; ++round) {
    static_cast<void>(rt.call<squared>(next_of(rt), std::vector<int>(1000, round)));
    static_cast<void>(rt.call<checked>(next_of(rt), 10));  // its error reaches nobody
    static_cast<void>(rt.call<do_nothing>(next_of(rt)));
    std::vector<future<int>> parts;
    parts.push_back(rt.call<asks>(next_of(rt), rt.rank(), round % 12));
    parts.push_back(rt.call<checked>(next_of(rt), 1));
    static_cast<void>(when_all(std::move(parts)));
  }
}

std::span<const scenario> call_scenarios() { return calls_table; }

}  // namespace nacre::tests
