// SPDX-License-Identifier: Apache-2.0
// Coroutine handlers that wait for messages to their own object.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

/// Adds up numbers that come in any order, in the order of their steps.
struct adder {
  std::uint64_t sum = 0, others = 0, asked = 0;

  awaited<std::uint64_t> number(std::uint64_t, std::uint64_t value) { return value; }
  awaited<std::string> text(context& ctx, std::string name) {
    if (name == "wrong") throw std::out_of_range("this text is wrong");
    return name + std::to_string(ctx.self<adder>().id() == object_id() ? 1 : 0);
  }
  awaited<> nothing() {
    ++asked;
    return {};
  }
  void other() { ++others; }
  std::uint64_t seen() const { return others; }

  task<std::uint64_t> add(context& ctx, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step < last; ++step) sum = sum * 31 + co_await ctx.next<&adder::number>(step);
    co_return sum;
  }
  task<std::string> collect(context& ctx, std::uint64_t count) {
    std::string all;
    for (std::uint64_t each = 0; each < count; ++each) all += co_await ctx.next<&adder::text>() + ";";
    co_return all;
  }
  task<std::string> fail(context& ctx) {
    try {
      static_cast<void>(co_await ctx.next<&adder::text>());
    } catch (const std::out_of_range& error) {
      co_return error.what();
    }
    co_return "nothing was thrown";
  }
  task<std::string> try_several(context& ctx, std::size_t count) {
    try {
      std::string all;
      for (const std::string& each : co_await ctx.next_n<&adder::text>(count)) all += each + ";";
      co_return all;
    } catch (const std::out_of_range& error) {
      co_return error.what();
    }
  }
  task<std::uint64_t> between(context& ctx, mobile_ptr<adder> helper) {
    const std::uint64_t previous = co_await ctx.next<&adder::number>(1);
    const std::uint64_t seen = co_await ctx.call<&adder::seen>(helper);
    co_return previous * 100 + co_await ctx.next<&adder::number>(2) * 10 + seen;
  }
  task<int> in_shared(context& ctx) const {
    try {
      static_cast<void>(co_await ctx.next<&adder::number>(1));
    } catch (const usage_error&) {
      co_return 1;
    }
    co_return 0;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum, others, asked);
  }
};

std::uint64_t sum_of(std::uint64_t steps) {
  std::uint64_t sum = 0;
  for (std::uint64_t step = 0; step < steps; ++step) sum = sum * 31 + 7 * step + 1;
  return sum;
}

mobile_ptr<adder> shared_adder(runtime& rt) {
  return rt.broadcast(rt.rank().value() == 0 ? rt.create<adder>() : mobile_ptr<adder>(), rank_id(0));
}

/// Every rank sends its share of the steps, the latest first; the object moves while they come.
void early(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t steps = 3000;
  const auto object = shared_adder(rt);
  for (std::uint64_t step = steps; step-- > 0;) {
    if (step % rt.size() == rt.rank().value()) rt.send<&adder::number>(object, step, 7 * step + 1);
    if (step % 500 == 0) rt.migrate(object, rank_id(static_cast<std::uint32_t>(step / 500) % rt.size()));
  }
  rt.wait_quiescence();  // the messages are part of the object now
  if (rt.rank().value() == 0) {
    rt.migrate(object, rank_id(rt.size() - 1)).get();
    rt.migrate(object, rank_id(0)).get();
    EXPECT_EQ(rt.call<&adder::add>(object, 0, steps).get(), sum_of(steps));
    rt.destroy(object);
  }
  rt.barrier();
}

/// The coroutine waits while the messages come, and others too, which run after it.
void late(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t steps = 500;
  const auto object = shared_adder(rt);
  future<std::uint64_t> sum;
  if (rt.rank().value() == 0) sum = rt.call<&adder::add>(object, 0, steps);
  rt.barrier();
  if (rt.rank().value() == rt.size() - 1) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      rt.send<&adder::other>(object);
      rt.send<&adder::number>(object, step, 7 * step + 1);
      if (step == 20) rt.migrate(object, rank_id(rt.size() - 1));
    }
  }
  if (rt.rank().value() == 0) {
    EXPECT_EQ(sum.get(), sum_of(steps));
  }
  rt.wait_quiescence();
  EXPECT_EQ(rt.call<&adder::seen>(object).get(), steps);
  EXPECT_EQ(rt.is_local(object), rt.rank().value() == rt.size() - 1);
  rt.barrier();
  if (rt.rank().value() == 0) rt.destroy(object);
  rt.barrier();
}

void results(runtime& rt, std::uint64_t) {
  const auto object = rt.create<adder>(), helper = rt.create<adder>();
  auto both = rt.call<&adder::collect>(object, 2);
  auto first = rt.call<&adder::text>(object, "a");
  auto second = rt.call<&adder::text>(object, "b");
  EXPECT_EQ(first.get(), "a0");
  EXPECT_EQ(second.get(), "b0");
  EXPECT_EQ(both.get(), "a0;b0;");
  auto failed = rt.call<&adder::text>(object, "wrong");
  EXPECT_EQ(rt.call<&adder::fail>(object).get(), "this text is wrong");
  EXPECT_THROW(static_cast<void>(failed.get()), call_error);
  rt.send<&adder::other>(helper);
  auto mixed = rt.call<&adder::between>(object, helper);
  rt.send<&adder::number>(object, 2, 3U);
  rt.send<&adder::number>(object, 1, 4U);
  EXPECT_EQ(mixed.get(), 431U);
  EXPECT_EQ(rt.call<&adder::in_shared>(object).get(), 1);
  rt.send<&adder::nothing>(object);
  rt.wait_quiescence();  // it is kept, and nobody asks
  rt.barrier();
  rt.on_delivery_error([](const delivery_error&) {});
  rt.destroy(object);
  rt.destroy(helper);
  rt.wait_quiescence();
}

struct ring_part {
  std::uint64_t passed = 0;

  awaited<std::uint64_t> token(std::uint64_t, std::uint64_t value) { return value; }
  task<std::uint64_t> pass(context& ctx, array_ptr<ring_part> ring, std::uint64_t rounds) {
    const std::int64_t index = ctx.index()[0], count = ring.shape()[0];
    for (std::uint64_t round = 0; round < rounds; ++round) {
      ctx.send<&ring_part::token>(ring[(index + 1) % count], round, static_cast<std::uint64_t>(index) + round);
      passed += co_await ctx.next<&ring_part::token>(round);
    }
    co_return passed;
  }
  awaited<> edge(int, std::uint64_t value) {
    passed += value;
    return {};
  }
  task<std::uint64_t> take_all(context& ctx, std::uint64_t count) {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : co_await ctx.next_n<&ring_part::token>(3, count)) sum = sum * 10 + each;
    co_await ctx.next_n<&ring_part::edge>(4, count);
    co_return sum * 1000 + passed;
  }
  task<std::uint64_t> take(context& ctx, std::uint64_t round) { co_return co_await ctx.next<&ring_part::token>(round); }
  task<std::uint64_t> give_and_take(context& ctx, mobile_ptr<ring_part> other) {
    ctx.send<&ring_part::token>(other, 0, 1);
    co_return co_await ctx.next<&ring_part::token>(1);
  }
  void work(context& ctx) {
    ctx.charge(1e-6);
    ++passed;
  }
  [[nodiscard]] std::uint64_t count() const { return passed; }
  task<void> hold(context& ctx, mobile_ptr<ring_part> other) {
    static_cast<void>(co_await ctx.call<&ring_part::take>(other, 50));
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(passed);
  }
};

/// Elements of arrays wait for each other; also one that takes the place of another.
void in_arrays(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t count = 7, rounds = 40;
  const auto ring = rt.create_array<ring_part>(extents{count});
  const std::uint64_t expected = rounds * (count * (count - 1) / 2) + count * (rounds * (rounds - 1) / 2);
  if (rt.rank().value() == 0) {
    EXPECT_EQ(rt.reduce<&ring_part::pass>(ring, std::plus<>{}, ring, rounds).get(), expected);
    rt.erase(ring, index{3});
    rt.insert(ring, index{3}).get();  // else the token of element 2 may come before it and be lost
    rt.send<&ring_part::token>(ring[3], 77, 1);
    auto one = rt.call<&ring_part::pass>(ring[3], ring, 1);
    auto other = rt.call<&ring_part::pass>(ring[2], ring, 1);
    static_cast<void>(other);
    EXPECT_EQ(one.get(), 2U);
    rt.send<&ring_part::token>(ring[2], 0, 1);
  }
  rt.wait_quiescence();
  rt.on_delivery_error([](const delivery_error&) {});
  rt.barrier();
  rt.destroy(ring);
  rt.wait_quiescence();
}

/// Two insertions wait together at a place whose element keeps a message. Both are refused; the element goes on.
void refused_insertions(runtime& rt, std::uint64_t) {
  const auto ring = rt.create_array<ring_part>(extents{2});
  if (rt.rank().value() == 0) {
    rt.send<&ring_part::token>(ring[0], 99, 0);
    rt.send<&ring_part::hold>(ring[0], ring[1]);
    auto first = rt.insert(ring, index{0}), second = rt.insert(ring, index{0});
    rt.send<&ring_part::token>(ring[1], 50, 0);
    EXPECT_THROW(first.get(), call_error);
    EXPECT_THROW(second.get(), call_error);
    auto taken = rt.call<&ring_part::take>(ring[0], 1);
    rt.send<&ring_part::token>(ring[0], 1, 5);
    EXPECT_EQ(taken.get(), 5U);
  }
  rt.wait_quiescence();
  rt.on_delivery_error([](const delivery_error&) {});
  rt.barrier();
  rt.destroy(ring);
  rt.wait_quiescence();
}

/// As many messages of a step as there are neighbours.
void several(runtime& rt, std::uint64_t) {
  const auto object = rt.create<ring_part>();
  auto sum = rt.call<&ring_part::take_all>(object, 3);
  rt.send<&ring_part::token>(object, 4, 9);  // of another step
  for (std::uint64_t value : {1U, 2U, 3U}) {
    rt.send<&ring_part::edge>(object, 4, 10 * value);
    rt.send<&ring_part::token>(object, 3, value);
  }
  EXPECT_EQ(sum.get(), 123'060U);
  EXPECT_EQ(rt.call<&ring_part::take>(object, 4).get(), 9U);
  rt.destroy(object);
}

/// A caller that waits for one result before it calls for the next gets it; what follows a failure is kept.
void several_of_callers(runtime& rt, std::uint64_t) {
  const auto object = rt.create<adder>();
  auto all = rt.call<&adder::try_several>(object, 4);
  rt.send<&adder::text>(object, "a");
  EXPECT_EQ(rt.call<&adder::text>(object, "b").get(), "b0");
  EXPECT_EQ(rt.call<&adder::text>(object, "c").get(), "c0");
  rt.send<&adder::text>(object, "d");
  EXPECT_EQ(all.get(), "a0;b0;c0;d0;");
  for (const char* each : {"e", "wrong", "f", "g"}) rt.send<&adder::text>(object, each);
  EXPECT_EQ(rt.call<&adder::try_several>(object, 4).get(), "this text is wrong");
  rt.send<&adder::text>(object, "h");
  EXPECT_EQ(rt.call<&adder::try_several>(object, 3).get(), "f0;g0;h0;");
  EXPECT_EQ(rt.call<&adder::try_several>(object, 0).get(), "");
  rt.destroy(object);
}

void together(context&, ring_part& one, ring_part& other) {
  ++one.passed;
  ++other.passed;
}

/// The last rank asks for a colocation of an object that moves before much of what was sent to it; then it sends what
/// a handler of the object will wait for. The colocation begins behind that handler, since the other object is held.
void behind_a_colocation(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t previous = 2000, gap = 9000;  // more than the object clears at a time
  const auto moving = rt.broadcast(rt.create<ring_part>(), rank_id(0));
  const auto held = rt.broadcast(rt.create<ring_part>(), rank_id(0));
  future<std::uint64_t> end_of_hold;
  if (rt.rank().value() == 0) end_of_hold = rt.call<&ring_part::take>(held, 0);
  rt.barrier();
  if (rt.size() > 1 && rt.rank().value() == rt.size() - 1) {
    for (std::uint64_t i = 0; i < previous; ++i) rt.send<&ring_part::work>(moving);
    rt.colocate<together>(moving, held);
    for (std::uint64_t i = 0; i < gap; ++i) rt.send<&ring_part::work>(moving);
    rt.send<&ring_part::token>(moving, 1, 5);
  }
  if (rt.rank().value() == 0) {
    for (std::uint32_t i = 0; rt.size() > 1 && rt.call<&ring_part::count>(moving).get() < previous; ++i)
      rt.migrate(moving, rank_id(i % rt.size())).get();
    auto taken = rt.call<&ring_part::give_and_take>(moving, held);
    if (rt.size() == 1) rt.send<&ring_part::token>(moving, 1, 5);
    EXPECT_EQ(taken.get(), 5U);
    EXPECT_EQ(end_of_hold.get(), 1U);
  }
  rt.wait_quiescence();
  if (rt.rank().value() == 0 && rt.size() > 1) {
    EXPECT_EQ(rt.call<&ring_part::count>(moving).get(), previous + gap + 1);
  }
}

constexpr std::array all_of_waiting{
    scenario{"messages_that_come_before_a_handler_asks_are_kept_and_travel", early},
    scenario{"a_handler_that_waits_gets_its_messages_and_others_run_later", late},
    scenario{"messages_that_are_asked_for_have_results_and_errors", results},
    scenario{"elements_of_arrays_wait_for_each_other", in_arrays},
    scenario{"a_handler_waits_for_several_messages_of_a_step", several},
    scenario{"several_messages_of_callers_are_answered_as_they_come_and_those_behind_a_failure_are_kept",
             several_of_callers},
    scenario{"an_element_gets_its_messages_after_insertions_that_were_refused", refused_insertions},
    scenario{"a_handler_gets_its_messages_before_an_earlier_colocation_of_their_stream", behind_a_colocation},
};

}  // namespace

std::span<const scenario> waiting_scenarios() { return all_of_waiting; }

}  // namespace nacre::tests
