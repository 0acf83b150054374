// SPDX-License-Identifier: Apache-2.0
// Access of mains to objects: given in turn, where main is, beside everything that handlers and other mains do.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

/// What was added to it is in two places, which differ while somebody is at it.
struct account {
  std::uint64_t sum = 0;
  std::uint64_t same = 0;
  bool rooted = false;

  void add(std::uint64_t amount) {
    sum += amount;
    same += amount;
  }
  void root(bool is_on) { rooted = is_on; }
  [[nodiscard]] std::uint64_t read() const { return sum == same ? sum : ~std::uint64_t{0}; }
  [[nodiscard]] bool may_migrate() const { return !rooted; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum, same, rooted);
  }
};
struct stranger {
  int value = 0;
};

void lock_in_a_handler(context& ctx, mobile_ptr<account> p) {
  try {
    ctx.with_exclusive(p, [](account& mine) { mine.add(1); });
  } catch (const usage_error& error) {
    if (std::string(error.what()).find("ctx.send<&T::member>(p, ...)") != std::string::npos)
      ++board_of(ctx.rank()).seen;
  }
}

void one_main(runtime& rt, std::uint64_t) {
  const auto p = rt.create<account>();
  const auto q = rt.create_on<account>(next_of(rt)).get();
  for (const auto& each : {p, q}) {
    rt.send<&account::add>(each, 5U);
    EXPECT_EQ(rt.with_exclusive(each, [](account& mine) { return mine.add(2), mine.sum; }), 7U)
        << "what was sent before";
    EXPECT_TRUE(rt.is_local(each)) << "it has come here";
    EXPECT_EQ(rt.with_shared(each, [](const account& mine) { return mine.read(); }), 7U);
    const auto unique =
        rt.with_shared(each, [](const account& mine) { return std::make_unique<std::uint64_t>(mine.sum); });
    EXPECT_EQ(*unique, 7U) << "a result that can only be moved";
    EXPECT_EQ(rt.call<&account::read>(each).get(), 7U) << "it is free again";
  }
  rt.migrate(q, next_of(rt)).get();
}

void others_are_kept_off(runtime& rt, std::uint64_t) {
  const auto p = rt.create<account>();
  future<std::uint64_t> read;
  future<void> moved;
  rt.with_exclusive(p, [&](account& mine) {
    rt.send<&account::add>(p, 1U);
    read = rt.call<&account::read>(p);
    moved = rt.migrate(p, next_of(rt));
    mine.sum = 10;
    EXPECT_TRUE(rt.is_local(p));
    EXPECT_FALSE(read.ready() || moved.ready());
    EXPECT_THROW(read.wait(), usage_error) << "it would wait for itself";
    EXPECT_THROW(rt.barrier(), usage_error);
    EXPECT_THROW(rt.wait_quiescence(), usage_error);
    EXPECT_THROW(rt.with_shared(p, [](const account&) {}), usage_error);
    mine.same = 10;
  });
  EXPECT_EQ(read.get(), 11U);
  moved.get();
  EXPECT_EQ(rt.is_local(p), rt.size() == 1);
  rt.with_shared(p, [&](const account&) { read = rt.call<&account::read>(p); });
  EXPECT_EQ(read.get(), 11U);
}

void misuse_of_locks(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  const auto p = rt.create<account>();
  const auto add_and_throw = [](account& mine) -> int {
    mine.add(3);
    throw std::runtime_error("no more");
  };
  EXPECT_THROW(rt.with_exclusive(p, add_and_throw), std::runtime_error);
  EXPECT_THROW(rt.with_shared(p, [](const account&) { throw std::runtime_error("no more"); }), std::runtime_error);
  EXPECT_EQ(rt.with_exclusive(p, [](account& mine) { return mine.read(); }), 3U) << "the exceptions gave it back";
  EXPECT_THROW(rt.with_exclusive(mobile_ptr<stranger>(p.id()), [](stranger&) {}), usage_error);
  EXPECT_THROW(rt.with_exclusive(mobile_ptr<account>(), [](account&) {}), usage_error);
  rt.send<lock_in_a_handler>(rt.rank(), p);
  rt.wait_quiescence();
  EXPECT_EQ(board.seen, 1U) << "a handler is told what to write instead";
  rt.destroy(p);
  EXPECT_THROW(rt.with_shared(p, [](const account&) {}), call_error);
}

void refusals(runtime& rt, std::uint64_t) {
  const auto q = rt.create_on<account>(next_of(rt)).get();
  rt.send<&account::root>(q, true);
  const auto add = [](account& mine) { return mine.add(1), mine.sum; };
  if (rt.size() > 1) {
    EXPECT_THROW(rt.migrate(q, rt.rank()).get(), call_error);
    EXPECT_THROW(rt.with_exclusive(q, add), call_error);
    EXPECT_THROW(rt.with_shared(q, [](const account&) {}), call_error);
    EXPECT_FALSE(rt.is_local(q));
    rt.migrate(q, next_of(rt)).get();
  } else {
    EXPECT_EQ(rt.with_exclusive(q, add), 1U) << "it is here";
    rt.send<&account::add>(q, ~std::uint64_t{0});
  }
  rt.send<&account::root>(q, false);
  EXPECT_EQ(rt.with_exclusive(q, add), 1U);
  rt.migrate(q, next_of(rt)).get();
}

/// All mains want the same objects at the same time, while handlers change, read, move and, in the end, destroy them.
void many_mains(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 40, objects = 3;
  fresh_board(rt);
  std::vector<mobile_ptr<account>> all;
  if (rt.rank().value() == 0) {
    for (std::uint64_t index = 0; index < objects; ++index) {
      all.push_back(rt.create_on<account>(rank_id(static_cast<std::uint32_t>(index % rt.size()))).get());
    }
  }
  all = rt.broadcast(all, rank_id(0));
  std::uint64_t wrong = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto& chosen = all[(round * 7 + rt.rank().value() + seed) % objects];
    rt.send<&account::add>(chosen, 1U);
    if (round % 5 == rt.rank().value() % 5) {
      rt.migrate(chosen, rank_id(static_cast<std::uint32_t>((round + seed) % rt.size())));
    }
    if (round % 3 == 0) {
      rt.with_shared(chosen, [&](const account& mine) { wrong += mine.read() == ~std::uint64_t{0} ? 1U : 0U; });
    } else {
      rt.with_exclusive(chosen, [&](account& mine) {
        wrong += mine.read() == ~std::uint64_t{0} ? 1U : 0U;
        ++mine.sum;
        ++mine.same;
      });
    }
  }
  EXPECT_EQ(wrong, 0U) << "somebody was seen at work";
  rt.wait_quiescence();
  std::uint64_t sum = 0;
  for (const auto& each : all) sum += rt.call<&account::read>(each).get();
  EXPECT_EQ(sum, rt.size() * (rounds + rounds - (rounds + 2) / 3));
  rt.barrier();
  if (rt.rank().value() == 0) rt.destroy(all[0]);
  for (int tries = 0; tries < 3; ++tries) {
    try {
      rt.with_exclusive(all[0], [](account& mine) { mine.add(1); });
    } catch (const call_error&) {
      ++board_of(rt.rank()).failed;
    }
  }
  rt.wait_quiescence();
  if (rt.rank().value() == 0) {
    EXPECT_EQ(board_of(rank_id(0)).failed, 3U) << "who destroys it finds it gone";
  }
}

constexpr std::array locks_table{
    scenario{"a_main_gets_access_to_an_object_wherever_it_was", one_main},
    scenario{"nobody_touches_an_object_that_main_holds", others_are_kept_off},
    scenario{"misuse_of_locks_is_told_and_gives_them_back", misuse_of_locks},
    scenario{"an_object_that_refuses_to_move_stays", refusals},
    scenario{"mains_that_want_the_same_objects_all_get_them_in_turn", many_mains},
};

}  // namespace

std::span<const scenario> lock_scenarios() { return locks_table; }

}  // namespace nacre::tests
