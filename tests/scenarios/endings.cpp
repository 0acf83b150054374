// SPDX-License-Identifier: Apache-2.0
// Ends of objects whose coroutine handlers wait for messages.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

struct link {
  std::uint64_t passed = 0;

  awaited<std::uint64_t> token(std::uint64_t, std::uint64_t value) { return value; }
  task<std::uint64_t> pass(context& ctx, array_ptr<link> ring) {
    const std::int64_t index = ctx.index()[0];
    ctx.send<&link::token>(ring[(index + 1) % ring.shape()[0]], 0, static_cast<std::uint64_t>(index));
    passed += co_await ctx.next<&link::token>(0);
    co_return passed;
  }
  task<std::uint64_t> take(context& ctx, std::uint64_t round) { co_return co_await ctx.next<&link::token>(round); }
  task<std::uint64_t> take_three(context& ctx, std::uint64_t round) {
    for (const std::uint64_t each : co_await ctx.next_n<&link::token>(round, 3)) passed += each;
    co_return passed;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(passed);
  }
};

/// Rank 0 waits for the token of a link, which the last rank ends meanwhile, or tries to replace; then the token
/// comes.
void endings_meanwhile(runtime& rt, std::uint64_t) {
  const auto ring = rt.create_array<link>(extents{3});
  const auto alone = rt.broadcast(rt.create<link>(), rank_id(0));
  const bool ends = rt.rank().value() == rt.size() - 1;
  rt.on_delivery_error([](const delivery_error&) {});
  const std::array<mobile_ptr<link>, 3> all{alone, ring[0], ring[1]};
  std::vector<future<std::uint64_t>> taken;
  for (const auto& each : all) {
    if (rt.rank().value() == 0) taken.push_back(rt.call<&link::take>(each, 5));
  }
  rt.barrier();
  future<void> erased, inserted;
  if (ends) {
    rt.destroy(alone);
    erased = rt.erase(ring, index{0});
    inserted = rt.insert(ring, index{1});
  }
  rt.barrier();
  if (rt.rank().value() == 0) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      rt.send<&link::token>(all[i], 5, i);
      if (ends && i < 2) {  // behind the ending in its own stream
        EXPECT_THROW(static_cast<void>(taken[i].get()), call_error);
      } else {
        EXPECT_EQ(taken[i].get(), i);
      }
    }
  }
  if (ends) {
    erased.get();
    EXPECT_THROW(inserted.get(), call_error);
  }
  rt.wait_quiescence();
  rt.barrier();
  rt.destroy(ring);
}

/// The steps of a ring, and its end behind them, without waiting for the steps.
void ended_at_once(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  rt.on_delivery_error([&board](const delivery_error&) { ++board.reported; });
  rt.barrier();
  const auto ring = rt.create_array<link>(extents{8});
  future<std::uint64_t> passed;
  if (rt.rank().value() == 0) passed = rt.reduce<&link::pass>(ring, std::plus<>{}, ring);
  rt.destroy(ring);
  if (rt.rank().value() == 0) {
    EXPECT_EQ(passed.get(), 28U);
  }
  rt.wait_quiescence();
  EXPECT_EQ(board.reported, 0U) << "each link has got its token";
}

/// Handlers wait for what nobody sends, and their objects end: callers hear of it, and the handler of delivery errors.
void nothing_comes(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  rt.on_delivery_error([&board](const delivery_error& delivery_error) {
    if (delivery_error.why.find("the object ends") != std::string_view::npos) ++board.reported;
  });
  rt.barrier();
  const auto ring = rt.create_array<link>(extents{rt.size()});
  const auto alone = rt.create<link>();
  auto taken = rt.call<&link::take>(alone, 1);
  rt.send<&link::take>(ring[rt.rank().value()], 2);
  rt.destroy(alone);
  try {
    ADD_FAILURE() << taken.get();
  } catch (const call_error& error) {
    EXPECT_NE(std::string(error.what()).find("the object ends"), std::string::npos) << error.what();
  }
  rt.destroy(ring);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::reported), rt.size());
}

/// Two of three messages come, and the object ends: they are reported as not delivered.
void too_few_come(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  rt.on_delivery_error([&board](const delivery_error&) { ++board.reported; });
  rt.barrier();
  const auto alone = rt.create<link>();
  auto taken = rt.call<&link::take_three>(alone, 1);
  for (const std::uint64_t value : {1U, 2U}) rt.send<&link::token>(alone, 1, value);
  rt.destroy(alone);
  EXPECT_THROW(static_cast<void>(taken.get()), call_error);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::reported), 2 * rt.size());
}

constexpr std::array all_of_endings{
    scenario{"a_handler_gets_the_messages_of_other_ranks_while_the_end_of_its_object_waits", endings_meanwhile},
    scenario{"elements_pass_on_what_they_have_before_their_array_ends", ended_at_once},
    scenario{"a_handler_gives_up_to_wait_when_its_object_is_to_end_and_nothing_else_happens", nothing_comes},
    scenario{"messages_of_a_handler_that_gives_up_to_wait_for_more_are_reported", too_few_come},
};

}  // namespace

std::span<const scenario> ending_scenarios() { return all_of_endings; }

}  // namespace nacre::tests
