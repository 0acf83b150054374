// SPDX-License-Identifier: Apache-2.0
// What each location policy costs, counted: hops of messages to an object that has moved, and updates.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre {
namespace {

struct wanderer {
  std::uint32_t met = 0;
  void meet() { ++met; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(met);
  }
};

/// A type that chooses for itself.
struct homely {
  static constexpr auto location = location_policy::home;
  std::uint32_t met = 0;
  void meet() { ++met; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(met);
  }
};

/// Steps between ranks, and location updates, of all ranks together.
struct cost {
  std::uint64_t hops = 0, updates = 0;
  friend bool operator==(const cost&, const cost&) = default;
  friend void PrintTo(const cost& of, std::ostream* out) { *out << of.hops << " hops, " << of.updates << " updates"; }
};

cost spent(runtime& rt) {
  rt.wait_quiescence();
  const rank_counters own = rt.counters();
  return {rt.all_reduce(own.hops, std::plus<>{}), rt.all_reduce(own.updates_sent, std::plus<>{})};
}

/// What `act`, which one rank does, costs in all.
template <class Act>
cost of(runtime& rt, std::uint32_t by, Act act) {
  const cost before = spent(rt);
  if (rt.rank() == rank_id(by)) act();
  const cost after = spent(rt);
  return {after.hops - before.hops, after.updates - before.updates};
}

constexpr std::uint32_t chain = 5;

/// An object made on rank 0 moves to rank 1, which will send, and from there on over `chain` more ranks. Rank 0, its
/// home, is told of each arrival. Then rank 1 sends three messages, one after the other, and once more after the object
/// has moved to yet another rank.
template <class Object>
std::vector<cost> costs_of_visits(const char* policy) {
  config how;
  how.set("transport", "sim");
  how.set("ranks", std::to_string(chain + 3));
  how.set("hops_max", "8");
  how.set("location", policy);
  std::vector<cost> seen;
  EXPECT_EQ(run(how,
                [&](runtime& rt) {
                  mobile_ptr<Object> object;
                  if (rt.rank() == rank_id(0)) object = rt.create<Object>();
                  object = rt.broadcast(object, rank_id(0));
                  std::vector<cost> own;
                  for (std::uint32_t to = 1; to <= chain + 1; ++to) {
                    // Asked for where the object is, so that nobody learns from the request.
                    const cost moved = of(rt, to - 1, [&] { rt.migrate(object, rank_id(to)); });
                    if (to == chain + 1) own.push_back(moved);
                  }
                  const auto send = [&] { rt.send<&Object::meet>(object); };
                  for (int time = 0; time < 3; ++time) own.push_back(of(rt, 1, send));
                  static_cast<void>(of(rt, chain + 1, [&] { rt.migrate(object, rank_id(chain + 2)); }));
                  own.push_back(of(rt, 1, send));
                  if (rt.rank() == rank_id(0)) seen = own;
                }),
            0);
  return seen;
}

/// Of the last move before the messages, of each of three messages, and of one more after another move.
using table = std::vector<cost>;

TEST(location_policies, lazy_forwarding_follows_the_whole_chain_every_time) {
  EXPECT_EQ(costs_of_visits<wanderer>("lazy_forwarding"), (table{{0, 1}, {5, 0}, {5, 0}, {5, 0}, {6, 0}}));
}
TEST(location_policies, jump_update_tells_the_sender_once) {
  EXPECT_EQ(costs_of_visits<wanderer>("jump_update"), (table{{0, 1}, {5, 1}, {1, 0}, {1, 0}, {2, 1}}));
}
TEST(location_policies, path_update_tells_all_who_forwarded) {
  EXPECT_EQ(costs_of_visits<wanderer>("path_update"), (table{{0, 1}, {5, 5}, {1, 0}, {1, 0}, {2, 2}}));
}
TEST(location_policies, home_is_asked_by_old_places) {
  EXPECT_EQ(costs_of_visits<wanderer>("home"), (table{{0, 1}, {2, 1}, {1, 0}, {1, 0}, {3, 1}}));
}
TEST(location_policies, broadcast_update_tells_every_rank) {
  EXPECT_EQ(costs_of_visits<wanderer>("broadcast_update"), (table{{0, 7}, {1, 0}, {1, 0}, {1, 0}, {1, 0}}));
}
TEST(location_policies, subscriber_update_tells_late_senders_of_the_next_move) {
  EXPECT_EQ(costs_of_visits<wanderer>("subscriber_update"), (table{{0, 1}, {5, 0}, {5, 0}, {5, 0}, {1, 0}}));
}
TEST(location_policies, a_type_may_choose_for_itself) {
  EXPECT_EQ(costs_of_visits<homely>("lazy_forwarding"), costs_of_visits<wanderer>("home"));
}

}  // namespace
}  // namespace nacre
