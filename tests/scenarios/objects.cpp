// SPDX-License-Identifier: Apache-2.0
// Mobile objects: made, called, moved and ended anywhere, and a storm of all that at once.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

struct tired_cell {
  std::vector<double> u;
  std::uint64_t steps = 0;
  void step(context& ctx, int n) {
    if (ctx.self<tired_cell>().id().valid()) steps += static_cast<std::uint64_t>(n);
  }
  double norm() const { return std::sqrt(std::inner_product(u.begin(), u.end(), u.begin(), 0.0)); }
  std::uint64_t count() const { return steps; }
  std::uint32_t where(context& ctx) const { return ctx.rank().value(); }
  int fail(int) { throw std::runtime_error("the cell is tired"); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(u, steps);
  }
};

task<double> twice(context& ctx, mobile_ptr<tired_cell> p) {
  const double x = co_await ctx.call<&tired_cell::norm>(p);
  co_return 2 * x;
}

void lives(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  const rank_id next = next_of(rt);
  rt.on_delivery_error([&board](const delivery_error& delivery_error) {
    if (delivery_error.handler.find("step") != std::string_view::npos) ++board.reported;
  });
  const mobile_ptr<tired_cell> p = rt.create<tired_cell>(std::vector<double>{3, 4});
  const mobile_ptr<tired_cell> q = rt.create_on<tired_cell>(next, std::vector<double>{6, 8}).get();
  EXPECT_TRUE(rt.is_local(p));
  EXPECT_EQ(rt.is_local(q), rt.size() == 1);
  rt.send<&tired_cell::step>(p, 5);
  EXPECT_EQ(rt.call<&tired_cell::norm>(p).get(), 5);
  EXPECT_EQ(rt.call<&tired_cell::norm>(q).get(), 10);
  EXPECT_EQ(rt.call<twice>(next, p).get(), 10);
  future<void> moved = rt.migrate(p, next);
  moved.get();
  EXPECT_EQ(rt.call<&tired_cell::where>(p).get(), next.value());
  EXPECT_EQ(rt.home_of(p), rt.rank()) << "the home stays, wherever the object goes";
  EXPECT_EQ(rt.call<&tired_cell::count>(p).get(), 5U);
  try {
    static_cast<void>(rt.call<&tired_cell::fail>(p, 1).get());
    ADD_FAILURE();
  } catch (const call_error& error) {
    EXPECT_NE(std::string(error.what()).find("the cell is tired"), std::string::npos) << error.what();
  }
  EXPECT_EQ(rt.call<&tired_cell::count>(p).get(), 5U) << "the object can still be used";
  rt.destroy(p);
  EXPECT_THROW(static_cast<void>(rt.call<&tired_cell::norm>(p).get()), call_error);
  rt.send<&tired_cell::step>(p, 1);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::reported), rt.size());
  EXPECT_EQ(rt.call<&tired_cell::norm>(q).get(), 10);
}

void misuse_of_objects(runtime& rt, std::uint64_t) {
  EXPECT_THROW(rt.send<&tired_cell::step>(mobile_ptr<tired_cell>(), 1), usage_error);
  const auto p = rt.create<tired_cell>();
  EXPECT_THROW(rt.migrate(p, rank_id(rt.size())), usage_error);
  const mobile_ptr<tired_cell> stranger(object_id(rt.rank(), 123'456));
  EXPECT_THROW(static_cast<void>(rt.call<&tired_cell::norm>(stranger).get()), call_error);
  const mobile_ptr<tired_cell> of_no_rank(object_id(rank_id(2 * rt.size()), 1));
  EXPECT_THROW(static_cast<void>(rt.call<&tired_cell::norm>(of_no_rank).get()), call_error);
  EXPECT_THROW(static_cast<void>(rt.home_of(of_no_rank)), usage_error);
  EXPECT_THROW(static_cast<void>(rt.home_of(mobile_ptr<tired_cell>())), usage_error);
}

/// Takes numbered messages, which must come in order however often it moves, and carries a load on its way.
struct list {
  std::uint64_t next = 0;
  std::vector<std::uint64_t> load = std::vector<std::uint64_t>(3000, 7);
  void append(context& ctx, std::uint64_t number) {
    if (number != next) ++board_of(ctx.rank()).failed;
    next = number + 1;
    ++board_of(ctx.rank()).seen;
    if (number % 16 == 0) ctx.migrate(ctx.self<list>(), rank_id((ctx.rank().value() + 1) % ctx.size()));
  }
  std::uint64_t loads() const { return std::accumulate(load.begin(), load.end(), std::uint64_t{0}); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, load);
  }
};

void order_under_migration(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  constexpr std::uint64_t messages = 500;
  std::vector<mobile_ptr<list>> objects;
  for (int index = 0; index < 3; ++index) objects.push_back(rt.create<list>());
  for (std::uint64_t number = 0; number < messages; ++number) {
    for (const auto& each : objects) rt.send<&list::append>(each, number);
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), messages * objects.size() * rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U) << "messages from one main to one object have overtaken each other";
  for (const auto& each : objects) EXPECT_EQ(rt.call<&list::loads>(each).get(), 21'000U);
}

/// An object of the storm: it counts, sends on, and moves and asks others.
struct drop {
  std::uint64_t hits = 0;
  void fall(context& ctx, std::vector<mobile_ptr<drop>> all, std::uint32_t left) {
    ++hits;
    ++board_of(ctx.rank()).seen;
    if (left == 0) return;
    const auto& next = all[(hits * 7 + left) % all.size()];
    if (left % 5 == 0) ctx.migrate(all[(hits + left) % all.size()], rank_id((ctx.rank().value() + left) % ctx.size()));
    if (left % 3 == 0) ctx.send<&drop::look>(next);
    ctx.send<&drop::fall>(next, std::move(all), left - 1);
  }
  void look(context& ctx) const { ++board_of(ctx.rank()).sum; }
  task<void> ask(context& ctx, mobile_ptr<drop> other) {
    const std::uint64_t previous = hits;
    try {
      co_await ctx.call<&drop::look>(other);
    } catch (const call_error&) {
      ++board_of(ctx.rank()).failed;
    }
    if (hits != previous) ++board_of(ctx.rank()).reported;  // somebody else had access meanwhile
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(hits);
  }
};

void storm(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t chains = 6, length = 60;
  fresh_board(rt);
  rt.on_delivery_error([](const delivery_error&) {});
  std::vector<mobile_ptr<drop>> drops;
  for (std::uint32_t index = 0; index < 5; ++index) {
    drops.push_back(rt.create_on<drop>(rank_id(index % rt.size())).get());
  }
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      rt.send<&drop::fall>(drops[chain % drops.size()], drops, static_cast<std::uint32_t>(length - 1));
      rt.send<&drop::ask>(drops[0], drops[1 + chain % 4]);
    }
    rt.wait_quiescence();
    EXPECT_EQ(total(rt, &board::seen), round * chains * length * rt.size());
  }
  EXPECT_EQ(total(rt, &board::failed), 0U);
  EXPECT_EQ(total(rt, &board::reported), 0U);
  for (const auto& each : drops) rt.send<&drop::ask>(drops[0], each == drops[0] ? drops[1] : each);
  for (std::size_t index = 1; index < drops.size(); ++index) rt.destroy(drops[index]);
  rt.wait_quiescence();
}

constexpr std::array objects_table{
    scenario{"objects_are_created_called_moved_and_destroyed_anywhere", lives},
    scenario{"misuse_of_objects_is_told_at_once", misuse_of_objects},
    scenario{"messages_to_an_object_that_keeps_moving_arrive_in_order", order_under_migration},
    scenario{"a_storm_of_messages_and_migrations_loses_nothing_and_ends_exactly", storm},
};

}  // namespace

std::span<const scenario> object_scenarios() { return objects_table; }

}  // namespace nacre::tests
