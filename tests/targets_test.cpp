// SPDX-License-Identifier: Apache-2.0
// Every target of a message with every form of a handler, every operation, and with options: each cell runs. Those that
// have no meaning are in compile_errors.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "exec/thread_context.hpp"

namespace nacre::tests {
namespace {

constexpr int given = 3;
constexpr int places = 6;

std::atomic<std::uint64_t> runs;  // of handlers; all ranks are in this process
std::atomic<std::uint64_t> polled_runs;
int note(const context& ctx, int number) {
  ++runs;
  if (ctx.current_thread().role() == thread_role::progress) ++polled_runs;
  return number;
}

int function(context& ctx, int number) { return note(ctx, number); }
int function_without_exceptions(context& ctx, int number) noexcept { return note(ctx, number); }
task<int> coroutine(context& ctx, int number) {
  co_await ctx.sleep(1e-6);
  co_return note(ctx, number);
}
task<int> slow_coroutine(context& ctx, int number) {
  co_await ctx.sleep(0.05);
  co_return number;
}

/// A mobile object, an element of arrays of both kinds, and a member of a group.
struct cell {
  int member(context& ctx, int number) { return note(ctx, number); }
  int constant_member(context& ctx, int number) const noexcept { return note(ctx, number); }
  task<int> coroutine(context& ctx, int number) {
    co_await ctx.sleep(1e-6);
    co_return note(ctx, number);
  }
  task<int> slow_coroutine(context& ctx, int number) {
    co_await ctx.sleep(0.05);
    co_return number;
  }
  template <class Archive>
  void serialize(Archive&) {}
};
struct large_cell : cell {};

// The forms of a handler: before the parentheses, and behind the target.

template <auto F>
struct named {
  template <class... Front>
  static void send(runtime& rt, const Front&... front) {
    rt.send<F>(front..., given);
  }
  template <class... Front>
  static auto call(runtime& rt, const Front&... front) {
    return rt.call<F>(front..., given);
  }
  template <class... Front>
  static int reduce(runtime& rt, const Front&... front) {
    return rt.reduce<F>(front..., std::plus<>{}, given).get();
  }
  template <class... Front>
  static auto after(runtime& rt, const Front&... front) {
    return rt.after<F>(front..., given);
  }
};
template <class L>
struct unnamed {
  template <class... Front>
  static void send(runtime& rt, const Front&... front) {
    rt.send(front..., L{}, given);
  }
  template <class... Front>
  static auto call(runtime& rt, const Front&... front) {
    return rt.call(front..., L{}, given);
  }
  template <class... Front>
  static int reduce(runtime& rt, const Front&... front) {
    return rt.reduce(front..., L{}, std::plus<>{}, given).get();
  }
  template <class... Front>
  static auto after(runtime& rt, const Front&... front) {
    return rt.after(front..., L{}, given);
  }
};

/// Makes `body` on rank 0. Returns how many handlers have run on all ranks when the job is quiet.
template <class Body>
std::uint64_t runs_of(runtime& rt, Body&& body) {
  const std::uint64_t previous = runs;
  rt.barrier();
  if (rt.rank() == rank_id{0}) body();
  rt.wait_quiescence();
  return runs - previous;
}

struct column {
  std::string name;
  std::uint64_t handlers;
};

template <class Result>
void expect_result(future<Result> answer) {
  if constexpr (std::is_void_v<Result>) {
    answer.get();
  } else {
    EXPECT_EQ(answer.get(), given);
  }
}

/// One operation, once without options and once with them.
template <class Operation>
void expect_runs(runtime& rt, const column& target, const char* operation, Operation&& make) {
  constexpr with bulk{.channel = channel::bulk};
  EXPECT_EQ(runs_of(rt, [&] { make(); }), target.handlers) << target.name << ", " << operation;
  EXPECT_EQ(runs_of(rt, [&] { make(bulk); }), target.handlers) << target.name << ", with options, " << operation;
  constexpr with urgent{.category = category::communication};
  EXPECT_EQ(runs_of(rt, [&] { make(urgent); }), target.handlers) << target.name << ", urgent, " << operation;
}

/// All operations of one target with one form of a handler.
template <class Form, class Target>
void walk(runtime& rt, const column& column, const Target& target) {
  constexpr bool has_several = std::is_void_v<detail::answer<Target, &function>>;
  expect_runs(rt, column, "send", [&](const auto&... options) { Form::send(rt, options..., target); });
  expect_runs(rt, column, "call", [&](const auto&... options) {
    auto answer = Form::call(rt, options..., target);
    static_assert(std::is_same_v<decltype(answer), future<void>> == has_several);
    expect_result(std::move(answer));
  });
  if constexpr (has_several) {
    expect_runs(rt, column, "reduce", [&](const auto&... options) {
      EXPECT_EQ(Form::reduce(rt, options..., target), given * static_cast<int>(column.handlers)) << column.name;
    });
  }
  expect_runs(rt, column, "after", [&](const auto&... options) { Form::after(rt, options..., 1e-6, target); });
  EXPECT_EQ(runs_of(rt, [&] { EXPECT_TRUE(Form::after(rt, 3600.0, target).cancel()); }), 0U) << column.name;
}

template <class Form, class Target>
void expect_deadline(runtime& rt, const column& column, const Target& target) {
  constexpr with soon{.deadline = 1e-3};
  static_cast<void>(runs_of(rt, [&] {
    EXPECT_THROW(Form::call(rt, soon, target).get(), timeout_error) << column.name;
    EXPECT_THROW(Form::send(rt, soon, target), usage_error) << column.name;
    EXPECT_THROW(Form::after(rt, soon, 0.0, target), usage_error) << column.name;
    if constexpr (std::is_void_v<detail::answer<Target, &function>>) {
      EXPECT_THROW(Form::reduce(rt, soon, target), timeout_error) << column.name;
    }
  }));
}

template <class Target>
void walk_ranks(runtime& rt, const column& column, const Target& target) {
  constexpr auto lambda = [](context& ctx, int number) { return note(ctx, number); };
  constexpr auto coroutine_lambda = [](context& ctx, int number) -> task<int> {
    co_await ctx.sleep(1e-6);
    co_return note(ctx, number);
  };
  walk<named<&function>>(rt, column, target);
  walk<named<&function_without_exceptions>>(rt, column, target);
  walk<named<&coroutine>>(rt, column, target);
  walk<unnamed<decltype(lambda)>>(rt, column, target);
  walk<unnamed<decltype(coroutine_lambda)>>(rt, column, target);
  expect_deadline<named<&slow_coroutine>>(rt, column, target);
}

template <class Target>
void walk_objects(runtime& rt, const column& column, const Target& target) {
  constexpr auto lambda = [](cell&, context& ctx, int number) { return note(ctx, number); };
  constexpr auto constant_lambda = [](const cell&, context& ctx, int number) { return note(ctx, number); };
  constexpr auto coroutine_lambda = [](cell&, context& ctx, int number) -> task<int> {
    co_await ctx.sleep(1e-6);
    co_return note(ctx, number);
  };
  walk<named<&cell::member>>(rt, column, target);
  walk<named<&cell::constant_member>>(rt, column, target);
  walk<named<&cell::coroutine>>(rt, column, target);
  walk<unnamed<decltype(lambda)>>(rt, column, target);
  walk<unnamed<decltype(constant_lambda)>>(rt, column, target);
  walk<unnamed<decltype(coroutine_lambda)>>(rt, column, target);
  expect_deadline<named<&cell::slow_coroutine>>(rt, column, target);
}

class targets : public testing::TestWithParam<const char*> {
 protected:
  static void run_job(void (*body)(runtime&)) {
    config settings;
    settings.set("transport", GetParam());
    settings.set("ranks", "3");
    settings.set("workers", "2");
    settings.set("balancer", "none");
    EXPECT_EQ(run(settings, body), 0);
  }
};

TEST_P(targets, ranks) {
  run_job([](runtime& rt) {
    walk_ranks(rt, {"a rank", 1}, rank_id{1});
    walk_ranks(rt, {"this rank", 1}, rank_id{0});
    walk_ranks(rt, {"all ranks", 3}, to_all);
  });
}

TEST_P(targets, objects) {
  run_job([](runtime& rt) {
    const auto object = rt.broadcast(rt.create<large_cell>(), rank_id{2});
    walk_objects(rt, {"an object", 1}, object);
    const auto group = rt.create_group<cell>();
    walk_objects(rt, {"a member of a group", 1}, group[rank_id{1}]);
    walk_objects(rt, {"a group", 3}, group);
  });
}

TEST_P(targets, arrays) {
  run_job([](runtime& rt) {
    const auto array = rt.create_array<cell>(extents{places});
    walk_objects(rt, {"an array", places}, array);
    walk_objects(rt, {"an element", 1}, array[{places - 1}]);
    walk_objects(rt, {"a section", 2}, section<cell>(array, std::vector<nacre::index>{{1}, {places - 1}}));
  });
}

TEST_P(targets, keyed_arrays) {
  run_job([](runtime& rt) {
    const auto words = rt.create_array<cell>(keyed_by<std::string>{});
    walk_objects(rt, {"an element with a key", 1}, words["nacre"]);
    walk_objects(rt, {"a keyed array", 1}, words);
  });
}

TEST_P(targets, that_are_left_out_of_after_are_this_rank) {
  run_job([](runtime& rt) {
    const column local_column{"this rank, unsaid", 1};
    expect_runs(rt, local_column, "after",
                [&](const auto&... options) { rt.after<&function>(options..., 1e-6, given); });
    expect_runs(rt, local_column, "after", [&](const auto&... options) {
      rt.after(
          options..., 1e-6, [](context& ctx, int number) { note(ctx, number); }, given);
    });
    // A rank in the place of an argument is an argument.
    constexpr auto with_rank = [](context& ctx, rank_id rank) { note(ctx, static_cast<int>(rank.value())); };
    expect_runs(rt, local_column, "after",
                [&](const auto&... options) { rt.after(options..., 1e-6, with_rank, rank_id{7}); });
  });
}

INSTANTIATE_TEST_SUITE_P(everywhere, targets, testing::Values("inproc", "sim"),
                         [](const auto& each) { return std::string(each.param); });

/// The options of a message to a target, which the header holds.
template <auto F, class Target>
void expect_options(const Target& target) {
  constexpr with options{.category = category::communication, .channel = channel::bulk};
  const message_ptr m = detail::message_to<F>(detail::address_of(target), options, given);
  EXPECT_EQ(m->header.channel, channel::bulk);
  EXPECT_NE(m->header.flags & flag_communication, 0);
}

TEST(options_of_messages, are_in_their_headers) {
  expect_options<&function>(rank_id{1});
  expect_options<&function>(to_all);
  expect_options<&cell::member>(mobile_ptr<large_cell>());
  expect_options<&cell::member>(array_ptr<cell>());
  expect_options<&cell::member>(section<cell>());
  expect_options<&cell::member>(group_member<cell>());
  expect_options<&cell::member>(group_ptr<cell>());
  expect_options<&cell::member>(keyed_element<cell, int>());
}

TEST(options_of_messages, reach_handlers_down_a_tree_of_ranks) {
  config settings;
  settings.set("ranks", "3");
  settings.set("progress", "dedicated");
  EXPECT_EQ(run(settings,
                [](runtime& rt) {
                  const auto group = rt.create_group<cell>();
                  constexpr with urgent{.category = category::communication};
                  const auto expect_polled = [&](std::uint64_t count, auto&& body) {
                    const std::uint64_t previous = polled_runs;
                    EXPECT_EQ(runs_of(rt, body), 3U);
                    EXPECT_EQ(polled_runs - previous, count);
                    rt.barrier();
                  };
                  expect_polled(0, [&] { rt.call<&function>(to_all, given).get(); });
                  expect_polled(3, [&] { rt.call<&function>(urgent, to_all, given).get(); });
                  expect_polled(3, [&] { rt.call<&cell::member>(urgent, group, given).get(); });
                  expect_polled(3, [&] { rt.after<&cell::member>(urgent, 1e-6, group, given); });
                }),
            0);
}

}  // namespace
}  // namespace nacre::tests
