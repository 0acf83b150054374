// SPDX-License-Identifier: Apache-2.0
// Functions on several objects at once: together, alone, once, in order, whatever moves or ends meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

/// A heap of so many grains; who is at it says so.
struct heap {
  std::uint64_t grains = 0;
  std::uint64_t last = 0;  ///< number of the last message of each rank, in 16 bits each
  bool busy = false;
  bool rooted = false;

  void drop(context& ctx, std::uint64_t amount) {
    if (busy) ++board_of(ctx.rank()).failed;
    grains += amount;
  }
  /// Messages of one rank come in the order of their numbers.
  void note(context& ctx, std::uint32_t source, std::uint64_t number) {
    if (busy) ++board_of(ctx.rank()).failed;
    const std::uint64_t previous = last >> (16 * source) & 0xffff;
    if (number <= previous) ++board_of(ctx.rank()).failed;
    last += (number - previous) << (16 * source);
  }
  void look(context& ctx) const {
    if (busy) ++board_of(ctx.rank()).failed;
    ctx.charge(5e-7);
  }
  void root(bool is_on) { rooted = is_on; }
  [[nodiscard]] std::uint64_t count() const { return grains; }
  [[nodiscard]] bool may_migrate() const { return !rooted; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(grains, last, busy, rooted);
  }
};

struct scale {
  std::vector<std::uint64_t> weighed;
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const std::uint64_t each : weighed) all += each;
    return all;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(weighed);
  }
};

void begin(context& ctx, std::initializer_list<heap*> all) {
  for (heap* const each : all) {
    if (std::exchange(each->busy, true)) ++board_of(ctx.rank()).failed;
  }
}
void end(std::initializer_list<heap*> all) {
  for (heap* const each : all) each->busy = false;
}

void pour(context& ctx, heap& source, heap& target, std::uint64_t amount) {
  begin(ctx, {&source, &target});
  ++board_of(ctx.rank()).seen;
  const std::uint64_t moved = std::min(source.grains, amount);
  source.grains -= moved;
  target.grains += moved;
  ctx.charge(1e-7);
  end({&source, &target});
}
void spread(context& ctx, heap& a, heap& b, heap& c, heap& d) {
  begin(ctx, {&a, &b, &c, &d});
  ++board_of(ctx.rank()).seen;
  const std::uint64_t all = a.grains + b.grains + c.grains + d.grains;
  a.grains = all - 3 * (all / 4);
  b.grains = c.grains = d.grains = all / 4;
  end({&a, &b, &c, &d});
}
void note_both(context& ctx, heap& a, heap& b, std::uint32_t source, std::uint64_t number) {
  a.note(ctx, source, number);
  b.note(ctx, source, number);
}
std::uint64_t weigh(scale& scale, const heap& heap, const std::string& times) {
  scale.weighed.push_back(heap.grains * times.size());
  return scale.weighed.back();
}
std::uint64_t refuse_to_pour(heap&, heap&) { throw std::runtime_error("the heaps are too wet"); }
std::uint32_t where(context& ctx, heap&, heap&, heap&) { return ctx.rank().value(); }
std::uint64_t sum_all(context& ctx, heap& a, heap& b, heap& c, heap& d, heap& e, heap& f, heap& g, heap& h, heap& i,
                      heap& j, heap& k, heap& l, heap& m, heap& n, heap& o, heap& p) {
  std::uint64_t sum = ctx.self<heap>().id().index();
  for (const heap* each : {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m, &n, &o, &p}) sum += each->grains;
  return sum;
}

std::vector<mobile_ptr<heap>> heaps(runtime& rt, std::size_t count, std::uint64_t grains) {
  std::vector<mobile_ptr<heap>> all;
  for (std::size_t index = 0; index < count; ++index) {
    all.push_back(rt.create_on<heap>(rank_id(static_cast<std::uint32_t>(index % rt.size())), grains).get());
  }
  return all;
}
std::vector<mobile_ptr<heap>> common_heaps(runtime& rt, std::size_t count, std::uint64_t grains) {
  fresh_board(rt);
  std::vector<mobile_ptr<heap>> all;
  if (rt.rank().value() == 0) all = heaps(rt, count, grains);
  return rt.broadcast(all, rank_id(0));
}
std::uint64_t grains_in(runtime& rt, const std::vector<mobile_ptr<heap>>& all) {
  std::uint64_t sum = 0;
  for (const auto& each : all) sum += rt.call<&heap::count>(each).get();
  return sum;
}

void of_any_kind(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto all = heaps(rt, 16, 10);
  const auto object = rt.create_on<scale>(next_of(rt)).get();
  rt.send<&heap::drop>(all[0], 5U);
  rt.colocate<pour>(all[0], all[1], 15U);
  EXPECT_EQ(rt.call<&heap::count>(all[1]).get(), 25U) << "behind what was sent before, before what is sent later";
  EXPECT_EQ(rt.call<&heap::count>(all[0]).get(), 0U);
  EXPECT_EQ(rt.colocate_call<weigh>(object, all[1], "four").get(), 100U) << "objects of several classes, and a result";
  EXPECT_EQ(rt.call<&scale::sum>(object).get(), 100U);
  const std::uint64_t index = all[0].id().index();
  EXPECT_EQ((rt.colocate_call<sum_all>(all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9],
                                       all[10], all[11], all[12], all[13], all[14], all[15])
                 .get()),
            165U + index);
}

std::uint64_t pour_in_line(context& ctx, std::span<heap* const> all, std::uint64_t amount) {
  for (heap* const each : all) begin(ctx, {each});
  ++board_of(ctx.rank()).seen;
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index + 1 < all.size(); ++index) {
    const std::uint64_t moved = std::min(all[index]->grains, amount);
    all[index]->grains -= moved;
    all[index + 1]->grains += moved;
  }
  for (heap* const each : all) sum += each->grains;
  for (heap* const each : all) end({each});
  return sum;
}
std::uint64_t first_of(std::span<heap* const> all) { return all.front()->grains; }

void of_a_list(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto all = heaps(rt, 40, 10);
  rt.send<&heap::drop>(all[0], 5U);
  EXPECT_EQ(rt.colocate_call<pour_in_line>(all, 12U).get(), 405U) << "behind what was sent before";
  EXPECT_EQ(rt.call<&heap::count>(all[0]).get(), 3U);
  EXPECT_EQ(rt.call<&heap::count>(all[39]).get(), 22U) << "in the order of the list";
  const std::span<const mobile_ptr<heap>> last = std::span(all).last(3);
  rt.colocate<pour_in_line>(last, 100U);
  EXPECT_EQ(rt.call<&heap::count>(all[39]).get(), 42U);
  EXPECT_EQ(rt.colocate_call<first_of>(last.last(1)).get(), 42U) << "a list of one, without a context";
  EXPECT_EQ(rt.colocate_call(
                  all, [](std::span<heap* const> each, int) { return each.size(); }, 1)
                .get(),
            40U);
}

void misuse_of_lists(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  auto all = heaps(rt, 3, 10);
  EXPECT_THROW(rt.colocate<pour_in_line>(std::vector<mobile_ptr<heap>>{}, 1U), usage_error);
  EXPECT_THROW(rt.colocate<pour_in_line>(std::vector<mobile_ptr<heap>>(1025, all[0]), 1U), usage_error);
  EXPECT_THROW(rt.colocate<pour_in_line>(std::vector{all[0], all[1], all[0]}, 1U), usage_error);
  EXPECT_THROW(rt.colocate<pour_in_line>(std::vector{all[0], mobile_ptr<heap>()}, 1U), usage_error);
  rt.destroy(all[1]);
  EXPECT_THROW(static_cast<void>(rt.colocate_call<pour_in_line>(all, 1U).get()), call_error);
  EXPECT_EQ(board.seen, 0U);
  EXPECT_EQ(rt.call<&heap::count>(all[2]).get(), 10U) << "the others go on";
}

/// Lists of all lengths from all mains, between functions on two objects, moves and messages.
void contended_lists(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 16;
  const auto all = common_heaps(rt, 12, 100);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t draw = round * rt.size() + rt.rank().value() + seed * 31;
    std::vector<mobile_ptr<heap>> chosen;
    for (std::uint64_t index = 0; index <= draw % 12; ++index) chosen.push_back(all[(draw + index * 5) % 12]);
    rt.colocate<pour_in_line>(chosen, draw % 40);
    if (round % 3 == 0) rt.colocate<pour>(all[draw % 12], all[(draw + 1) % 12], 7U);
    if (round % 4 == 1) rt.migrate(chosen.front(), rank_id(static_cast<std::uint32_t>(draw % rt.size())));
    if (round % 2 == 0) rt.send<&heap::drop>(chosen.back(), 1U);
    rt.send<&heap::look>(chosen.back());
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::failed), 0U) << "somebody was not alone";
  if (rt.rank().value() == 0) {
    EXPECT_EQ(grains_in(rt, all), 1200 + rounds / 2 * rt.size());
  }
  EXPECT_EQ(total(rt, &board::seen), (rounds + (rounds + 2) / 3) * rt.size()) << "each runs exactly once";
}

void as_few_as_can_be(runtime& rt, std::uint64_t) {
  rt.enable_balancing(false);  // two that wait are one more than a worker takes
  rt.barrier();
  if (rt.rank().value() != 0) return;
  const rank_id last(rt.size() - 1);
  const auto a = rt.create_on<heap>(last).get();
  const auto b = rt.create<heap>();
  const auto c = rt.create_on<heap>(last).get();
  EXPECT_EQ(rt.colocate_call<where>(a, b, c).get(), last.value()) << "most of them are there";
  EXPECT_EQ(rt.is_local(a), rt.size() == 1);
  rt.migrate(b, rank_id(0)).get();
  rt.send<&heap::root>(b, true);
  EXPECT_EQ(rt.colocate_call<where>(a, b, c).get(), 0U) << "one refuses to move";
  if (rt.size() == 1) return;
  rt.migrate(a, last).get();
  rt.send<&heap::root>(a, true);
  EXPECT_THROW(static_cast<void>(rt.colocate_call<where>(a, b, c).get()), call_error) << "two refuse_to_pour to move";
  EXPECT_EQ(grains_in(rt, {a, b, c}), 0U) << "they are free again";
}

void misuse_of_colocations(runtime& rt, std::uint64_t) {
  board& board = fresh_board(rt);
  const auto a = rt.create<heap>(), b = rt.create<heap>();
  EXPECT_THROW(rt.colocate<pour>(a, a, 1U), usage_error);
  EXPECT_THROW(rt.colocate<pour>(a, mobile_ptr<heap>(), 1U), usage_error);
  EXPECT_THROW(static_cast<void>(rt.colocate_call<refuse_to_pour>(a, b).get()), call_error);
  rt.on_delivery_error([&board](const delivery_error& error) {
    board.reported += error.handler.find("pour") != std::string_view::npos ? 1U : 1000U;
  });
  rt.destroy(b);
  rt.colocate<pour>(a, b, 1U);
  rt.colocate<pour>(b, a, 1U);
  rt.send<&heap::drop>(a, 1U);
  rt.wait_quiescence();
  EXPECT_EQ(board.reported, 2U) << "who asked learns that an object was gone";
  EXPECT_EQ(board.seen, 0U);
  EXPECT_EQ(rt.call<&heap::count>(a).get(), 1U) << "the other object goes on";
  EXPECT_THROW(static_cast<void>(rt.colocate_call<refuse_to_pour>(a, b).get()), call_error);
}

/// Overlapping groups from all mains, between migrations, locks and messages: nothing is lost, nobody waits for ever.
void contended(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 24;
  const auto all = common_heaps(rt, 6, 100);
  const auto pick = [&](std::uint64_t number) { return all[(number * 2654435761U + seed) / 7 % all.size()]; };
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t draw = round * rt.size() + rt.rank().value() + seed * 31;
    const auto a = pick(draw);
    const auto b = pick(draw + 3) == a ? all[(draw + 1) % all.size()] : pick(draw + 3);
    if (a != b) rt.colocate<pour>(a, b, draw % 40);
    if (round % 3 == 0)
      rt.colocate<spread>(all[draw % 6], all[(draw + 5) % 6], all[(draw + 1) % 6], all[(draw + 2) % 6]);
    if (round % 4 == 1) rt.migrate(a, rank_id(static_cast<std::uint32_t>(draw % rt.size())));
    if (round % 6 == 2) rt.with_exclusive(b, [](heap& mine) { EXPECT_FALSE(mine.busy); });
    if (round % 2 == 0) rt.send<&heap::drop>(b, 1U);
    for (int reader = 0; reader < 3; ++reader) rt.send<&heap::look>(reader == 0 ? a : b);
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::failed), 0U) << "somebody was not alone";
  if (rt.rank().value() == 0) {
    EXPECT_EQ(grains_in(rt, all), 600 + rounds / 2 * rt.size());
  }
  std::uint64_t expected = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t draw = round * rt.size() + rt.rank().value() + seed * 31;
    const auto a = pick(draw);
    const auto b = pick(draw + 3) == a ? all[(draw + 1) % all.size()] : pick(draw + 3);
    expected += (a != b ? 1U : 0U) + (round % 3 == 0 ? 1U : 0U);
  }
  EXPECT_EQ(total(rt, &board::seen), rt.all_reduce(expected, std::plus<>{})) << "each runs exactly once";
}

void in_order(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 60;
  if (rt.size() > 4) return;
  const auto all = common_heaps(rt, 3, 0);
  const std::uint32_t own_rank = rt.rank().value();
  for (std::uint64_t number = 1; number <= rounds; ++number) {
    const std::uint64_t chosen = (number * 5 + seed + own_rank) % 3;
    const auto a = all[chosen], b = all[(chosen + 1) % 3];
    if (number % 3 == 0) {
      rt.send<&heap::note>(a, own_rank, number);
    } else {
      rt.colocate<note_both>(number % 2 == 0 ? a : b, number % 2 == 0 ? b : a, own_rank, number);
    }
    if (number % 7 == 0) rt.migrate(a, rank_id(static_cast<std::uint32_t>((number + seed) % rt.size())));
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::failed), 0U) << "messages from one main to one object have overtaken each other";
}

/// Objects end in the middle of it; each colocation runs, or who asked for it is told.
void with_ends(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 20;
  const auto all = common_heaps(rt, 7, 10);
  board& board = board_of(rt.rank());
  rt.on_delivery_error([&board](const delivery_error& error) {
    if (error.handler.find("pour") != std::string_view::npos) ++board.reported;
  });
  rt.barrier();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t draw = round * 5 + rt.rank().value() * 3 + seed;
    rt.colocate<pour>(all[draw % 7], all[(draw + 1 + round % 5) % 7], 3U);
    if (round % 8 == 5 && draw % 7 != 0) rt.destroy(all[draw % 7]);
    if (round % 3 == 1) rt.migrate(all[(draw + 2) % 7], rank_id(static_cast<std::uint32_t>(draw % rt.size())));
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen) + total(rt, &board::reported), rounds * rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U);
  rt.barrier();
  rt.on_delivery_error([](const delivery_error&) {});
}

/// Elements end while colocations wait for them, and others come to their places; who asked is told what has become.
void of_replaced_elements(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 20;
  fresh_board(rt);
  const auto grid = rt.create_array<heap>(extents{2}, [](const index&) { return heap{10}; });
  const auto object = rt.create<heap>(heap{100});
  rt.barrier();
  std::vector<future<void>> asked;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t draw = round * 5 + rt.rank().value() * 3 + seed;
    const index position{draw % 2};
    asked.push_back(rt.colocate_call<pour>(grid[position], object, 1U));
    if (round % 2 == 0) asked.push_back(rt.colocate_call<pour>(object, grid[{(draw + 1) % 2}], 1U));
    if (draw % 3 == 0) {
      rt.erase(grid, position);
      rt.insert(grid, position, heap{10});
    }
    if (draw % 4 == 1) rt.migrate(grid[position], rank_id(static_cast<std::uint32_t>(draw % rt.size())));
  }
  std::uint64_t ran = 0;
  for (future<void>& each : asked) {
    try {
      each.get();
      ++ran;
    } catch (const call_error&) {
    }
  }
  const std::uint64_t ran_in_all = rt.all_reduce(ran, std::plus<>{});  // after the last colocation of each rank
  EXPECT_EQ(total(rt, &board::seen), ran_in_all);
  EXPECT_EQ(total(rt, &board::failed), 0U) << "somebody was not alone";
  rt.destroy(grid);
}

constexpr std::array all_scenarios{
    scenario{"a_function_runs_on_objects_of_any_class_and_number", of_any_kind},
    scenario{"a_colocation_moves_as_few_objects_as_it_can", as_few_as_can_be},
    scenario{"a_function_runs_on_a_list_of_objects", of_a_list},
    scenario{"misuse_of_lists_of_objects_is_told", misuse_of_lists},
    scenario{"colocations_of_lists_that_overlap_all_run_once_and_alone", contended_lists},
    scenario{"misuse_and_destroyed_objects_of_colocations_are_told", misuse_of_colocations},
    scenario{"colocations_that_overlap_all_run_once_and_alone", contended},
    scenario{"colocations_keep_their_place_among_messages_to_each_object", in_order},
    scenario{"colocations_of_objects_that_end_run_or_are_reported", with_ends},
    scenario{"colocations_of_elements_that_are_replaced_run_or_are_told", of_replaced_elements},
};

}  // namespace

std::span<const scenario> colocation_scenarios() { return all_scenarios; }

}  // namespace nacre::tests
