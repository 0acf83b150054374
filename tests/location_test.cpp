// SPDX-License-Identifier: Apache-2.0
// What each location policy costs, counted: hops of messages to an object that has moved, and updates.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "location_kit.hpp"

namespace nacre {
namespace {

/// As the program says, but for this type, whose handlers are those of its base.
struct homely : wanderer {
  static constexpr auto location = location_policy::home;
};

/// Steps between ranks, and location updates, of all ranks together.
struct cost {
  std::uint64_t hops = 0, updates = 0;
  friend bool operator==(const cost&, const cost&) = default;
  friend void PrintTo(const cost& cost, std::ostream* out) {
    *out << cost.hops << " hops, " << cost.updates << " updates";
  }
};

cost spent(runtime& rt) {
  rt.wait_quiescence();
  const rank_counters rank_counters = rt.counters();
  return {rt.all_reduce(rank_counters.hops, std::plus<>{}), rt.all_reduce(rank_counters.updates_sent, std::plus<>{})};
}

/// What `act`, which one rank does, costs in all.
template <class Act>
cost of(runtime& rt, std::uint32_t step, Act act) {
  const cost previous = spent(rt);
  if (rt.rank() == rank_id(step)) act();
  const cost last = spent(rt);
  return {last.hops - previous.hops, last.updates - previous.updates};
}

constexpr std::uint32_t chain = 5;

/// An object that rank 0 has made. Collective.
template <class Object>
mobile_ptr<Object> make_one(runtime& rt) {
  const mobile_ptr<Object> object = rt.rank() == rank_id(0) ? rt.create<Object>() : mobile_ptr<Object>();
  return rt.broadcast(object, rank_id(0));
}
/// The element of an array that says how it is found.
template <class Object, location_policy Policy>
mobile_ptr<Object> make_element(runtime& rt) {
  return rt.create_array<Object>(array_options{.location = Policy}, extents{1})[0];
}
/// The same, inserted later.
template <class Object, location_policy Policy>
mobile_ptr<Object> insert_element(runtime& rt) {
  const auto array = rt.create_array<Object>(array_options{.location = Policy}, extents{1}, sparse);
  if (rt.rank() == rank_id(0)) rt.insert(array, 0).get();
  return array[0];
}

/// An object made on rank 0 moves to rank 1, which will send, and from there on over `chain` more ranks. Rank 0, its
/// home, is told of each arrival. Then rank 1 sends three messages, one after the other, and once more after the object
/// has moved to yet another rank; at last a rank sends that has never heard of the object.
template <class Object>
std::vector<cost> costs_of_visits(const char* policy, mobile_ptr<Object> (*make)(runtime&) = &make_one<Object>) {
  config configuration = simulated(chain + 4);
  configuration.set("hops_max", "8");
  configuration.set("location", policy);
  std::vector<cost> seen;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const mobile_ptr<Object> object = make(rt);
                  std::vector<cost> costs;
                  for (std::uint32_t target = 1; target <= chain + 1; ++target) {
                    // Asked for where the object is, so that nobody learns from the request.
                    const cost moved = of(rt, target - 1, [&] { rt.migrate(object, rank_id(target)); });
                    if (target == chain + 1) costs.push_back(moved);
                  }
                  const auto send = [&] { rt.send<&Object::meet>(object); };
                  for (int time = 0; time < 3; ++time) costs.push_back(of(rt, 1, send));
                  static_cast<void>(of(rt, chain + 1, [&] { rt.migrate(object, rank_id(chain + 2)); }));
                  costs.push_back(of(rt, 1, send));
                  costs.push_back(of(rt, chain + 3, send));
                  if (rt.rank() == rank_id(0)) seen = costs;
                }),
            0);
  return seen;
}

/// Of the last move before the messages, of each of three messages, of one more after another move, of a stranger's.
using table = std::vector<cost>;

TEST(location_policies, lazy_forwarding_follows_the_whole_chain_every_time) {
  EXPECT_EQ(costs_of_visits<wanderer>("lazy_forwarding"), (table{{0, 1}, {5, 0}, {5, 0}, {5, 0}, {6, 0}, {2, 0}}));
}
TEST(location_policies, jump_update_tells_the_sender_once) {
  EXPECT_EQ(costs_of_visits<wanderer>("jump_update"), (table{{0, 1}, {5, 1}, {1, 0}, {1, 0}, {2, 1}, {2, 1}}));
}
TEST(location_policies, path_update_tells_all_who_forwarded) {
  EXPECT_EQ(costs_of_visits<wanderer>("path_update"), (table{{0, 1}, {5, 5}, {1, 0}, {1, 0}, {2, 2}, {2, 1}}));
}
TEST(location_policies, home_is_asked_by_old_places) {
  EXPECT_EQ(costs_of_visits<wanderer>("home"), (table{{0, 1}, {2, 1}, {1, 0}, {1, 0}, {3, 1}, {2, 1}}));
}
TEST(location_policies, broadcast_update_tells_every_rank) {
  EXPECT_EQ(costs_of_visits<wanderer>("broadcast_update"), (table{{0, 8}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}}));
}
TEST(location_policies, subscriber_update_tells_late_senders_of_the_next_move) {
  EXPECT_EQ(costs_of_visits<wanderer>("subscriber_update"), (table{{0, 1}, {5, 0}, {5, 0}, {5, 0}, {1, 0}, {2, 0}}));
}
TEST(location_policies, a_type_may_choose_for_itself) {
  EXPECT_EQ(costs_of_visits<homely>("lazy_forwarding"), costs_of_visits<wanderer>("home"));
}

TEST(location_policies, an_array_may_choose_for_its_elements_whatever_their_type_says) {
  constexpr auto path_update = location_policy::path_update, subscribers = location_policy::subscriber_update;
  EXPECT_EQ(costs_of_visits("lazy_forwarding", &make_element<homely, path_update>),
            costs_of_visits<wanderer>("path_update"));
  EXPECT_EQ(costs_of_visits("home", &make_element<wanderer, subscribers>),
            costs_of_visits<wanderer>("subscriber_update"));
  EXPECT_EQ(costs_of_visits("home", &insert_element<wanderer, path_update>), costs_of_visits<wanderer>("path_update"));
}
TEST(location_policies, an_array_that_does_not_choose_is_as_its_type_says_or_the_program) {
  constexpr auto undecided = location_policy::of_program;
  EXPECT_EQ(costs_of_visits("lazy_forwarding", &make_element<homely, undecided>), costs_of_visits<wanderer>("home"));
  EXPECT_EQ(costs_of_visits("path_update", &make_element<wanderer, undecided>),
            costs_of_visits<wanderer>("path_update"));
  EXPECT_EQ(costs_of_visits("lazy_forwarding", &insert_element<homely, undecided>), costs_of_visits<wanderer>("home"));
}

/// Many messages are on their way by an old place before their sender can have heard of the new one.
TEST(location_policies, a_sender_is_told_once_for_each_move_however_many_of_its_messages_come_late) {
  config configuration = simulated(3);
  cost burst;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const mobile_ptr<wanderer> object = make_one<wanderer>(rt);
                  static_cast<void>(of(rt, 0, [&] { rt.migrate(object, rank_id(1)); }));
                  const cost all = of(rt, 2, [&] {
                    for (int late = 0; late < 50; ++late) rt.send<&wanderer::meet>(object);
                  });
                  if (rt.rank() == rank_id(0)) burst = all;
                }),
            0);
  EXPECT_EQ(burst, (cost{100, 1}));
}

/// A destroyed object has been on rank 1; rank 0 is its home, rank 2 has only sent to it.
TEST(location_policies, every_rank_that_has_sent_to_an_object_hears_that_it_has_been_destroyed) {
  config configuration = simulated(3);
  std::vector<std::size_t> known(3, 99);
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const mobile_ptr<wanderer> object = make_one<wanderer>(rt);
                  static_cast<void>(of(rt, 0, [&] { rt.migrate(object, rank_id(1)); }));
                  static_cast<void>(of(rt, 2, [&] { rt.send<&wanderer::meet>(object); }));
                  static_cast<void>(of(rt, 1, [&] { rt.destroy(object); }));
                  rt.send<tell_known>(rt.rank(), reinterpret_cast<std::uintptr_t>(&known[rt.rank().value()]));
                }),
            0);
  EXPECT_EQ(known, (std::vector<std::size_t>{0, 0, 0}));
}

/// An object that goes to and fro between ranks 1 and 2 by itself, and stays on each for longer than a worker goes
/// without a look for messages.
struct rover : wanderer {
  void roam(context& ctx, std::uint32_t moves) {
    ctx.charge(12e-6);
    if (moves == 0) return;
    const auto self = ctx.self<rover>();
    static_cast<void>(ctx.migrate(self, rank_id(3 - ctx.rank().value())));
    ctx.send<&rover::roam>(self, moves - 1);
  }
};

/// Sends to it now and then, from a rank that it never visits.
void pursue(context& ctx, mobile_ptr<rover> whom, std::uint32_t times) {
  ctx.charge(700e-9);
  ctx.send<&rover::meet>(whom);
  if (times != 1) ctx.send<&pursue>(ctx.rank(), whom, times - 1);
}

/// With a bound of 1 an old place soon sends a message to the home, which has not been told of the last arrival yet,
/// and would send it back.
TEST(location_policies, a_message_waits_at_the_home_for_news_and_does_not_go_to_and_fro) {
  constexpr std::uint32_t times = 100, moves = 400;
  config configuration = simulated(4);
  configuration.set("sim.jitter", "0");
  configuration.set("hops_max", "1");
  configuration.set("location", "lazy_forwarding");
  std::uint64_t hops = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const mobile_ptr<rover> object = make_one<rover>(rt);
                  static_cast<void>(of(rt, 0, [&] { rt.migrate(object, rank_id(1)); }));
                  const cost all = of(rt, 3, [&] {
                    rt.send<&rover::roam>(object, moves);
                    rt.send<&pursue>(rank_id(3), object, times);
                  });
                  if (rt.rank() == rank_id(0)) hops = all.hops;
                }),
            0);
  EXPECT_GT(hops, times);
  EXPECT_LT(hops, 2 * moves);  // 23,000 if they did not wait
}

}  // namespace
}  // namespace nacre
