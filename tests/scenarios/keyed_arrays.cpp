// SPDX-License-Identifier: Apache-2.0
// Arrays whose places are keys: text, pairs and classes of the program as keys; elements that come, go and move.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios.hpp"

namespace nacre::tests {

/// A key of the program; all with the same `group` share a hash.
struct seat {
  std::uint32_t group = 0, number = 0;
  friend bool operator==(const seat&, const seat&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(group, number);
  }
};

}  // namespace nacre::tests

template <>
struct std::hash<nacre::tests::seat> {
  std::size_t operator()(const nacre::tests::seat& seat) const noexcept { return seat.group; }
};

namespace nacre::tests {
namespace {

struct entry {
  std::string text;
  std::uint64_t sum = 0, next = 0, late = 0;

  entry() = default;
  explicit entry(const std::string& key) : text(key) {}
  entry(std::string said, std::uint64_t begin) : text(std::move(said)), sum(begin) {}

  void add(std::uint64_t step) { sum += step; }
  void in_order(context& ctx, std::uint64_t number) {
    if (number != next++) ++late;
    if (number % 7 == 3) ctx.migrate(ctx.self<entry>(), next_of(ctx));
  }
  std::uint64_t value() const { return sum; }
  std::uint64_t not_in_order() const { return late; }
  std::string said() const { return text; }
  void give(context& ctx, std::uint64_t step) { ctx.contribute<&board_sum>(step, sum, std::plus<>{}, rank_id(0)); }
  static void board_sum(context& ctx, std::uint64_t, std::uint64_t all) { board_of(ctx.rank()).sum += all; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(text, sum, next, late);
  }
};

constexpr std::array<std::string_view, 6> words{"a", "rose", "is", "a", "rose", "nacre"};

void words_of_all(runtime& rt, std::uint64_t) {
  const auto all = rt.create_array<entry>(keyed_by<std::string>{});
  for (const std::string_view each : words) rt.send<&entry::add>(all[std::string(each)], 1);
  rt.wait_quiescence();
  if (rt.rank().value() == rt.size() - 1) {
    EXPECT_EQ(rt.call<&entry::value>(all["rose"]).get(), 2U * rt.size());
    EXPECT_EQ(rt.call<&entry::value>(all["nacre"]).get(), rt.size());
    EXPECT_EQ(rt.call<&entry::said>(all["is"]).get(), "is") << "made from its key";
    EXPECT_EQ(rt.reduce<&entry::value>(all, std::plus<>{}).get(), words.size() * rt.size());
    EXPECT_EQ(rt.call(all["a"], [](const entry& subject) { return subject.sum; }).get(), 2U * rt.size());
  }
  rt.barrier();
  rt.destroy(all);
}

void keys_of_one_hash(runtime& rt, std::uint64_t) {
  const auto all = rt.create_array<entry>(keyed_by<seat>{});
  const auto pairs = rt.create_array<entry>(keyed_by<std::pair<std::string, int>>{});
  for (std::uint32_t number = 0; number < 60; ++number) {
    rt.send<&entry::add>(all[{number / 30, number}], number);
    rt.send<&entry::add>(pairs[{"row", static_cast<int>(number % 10)}], 1);
  }
  rt.wait_quiescence();
  for (std::uint32_t number = rt.rank().value(); number < 60; number += 7)
    EXPECT_EQ(rt.call<&entry::value>(all[{number / 30, number}]).get(), std::uint64_t{number} * rt.size());
  EXPECT_EQ(rt.call<&entry::value>(pairs[{"row", 3}]).get(), 6U * rt.size());
  rt.barrier();
  rt.destroy(pairs);
  rt.destroy(all);
}

void order_while_they_move(runtime& rt, std::uint64_t) {
  const auto all = rt.create_array<entry>(keyed_by<std::uint64_t>{});
  const std::uint64_t first_number = rt.rank().value() * 1000;
  for (std::uint64_t number = 0; number < 40; ++number) {
    for (std::uint64_t key = 0; key < 5; ++key) rt.send<&entry::in_order>(all[first_number + key], number);
  }
  rt.wait_quiescence();
  EXPECT_EQ(rt.reduce<&entry::not_in_order>(all, std::plus<>{}).get(), 0U);
  const mobile_ptr<entry> one = rt.element_of(all, first_number).get();
  EXPECT_TRUE(one);
  EXPECT_FALSE(rt.element_of(all, first_number + 999).get()) << "nobody has sent to it";
  rt.migrate(one, rank_id(0)).get();
  EXPECT_EQ(rt.call<&entry::not_in_order>(all[first_number]).get(), 0U);
  rt.barrier();
  rt.destroy(all);
}

void inserted_and_erased(runtime& rt, std::uint64_t) {
  std::atomic<int> lost{0};
  rt.on_delivery_error([&](const delivery_error&) { ++lost; });
  const auto all = rt.create_array<entry>(keyed_by<std::string>{}, sparse);
  const std::string own_name = "rank " + std::to_string(rt.rank().value());
  rt.send<&entry::add>(all[own_name], 1);  // lost: there is none
  future<void> future = rt.insert(all, own_name, "hello", 5U);
  rt.send<&entry::add>(all[own_name], 1);  // behind the insertion
  future.get();
  EXPECT_EQ(rt.call<&entry::value>(all[own_name]).get(), 6U);
  EXPECT_THROW(rt.insert(all, own_name, "again", 1U).get(), call_error);
  rt.erase(all, own_name).get();
  EXPECT_THROW(rt.call<&entry::value>(all[own_name]).get(), call_error);
  EXPECT_THROW(rt.erase(all, own_name).get(), call_error);
  rt.insert(all, own_name, "back", 7U).get();
  rt.barrier();
  if (rt.rank().value() == 0) {
    EXPECT_EQ(rt.reduce<&entry::value>(all, std::plus<>{}).get(), 7U * rt.size());
    board_of(rank_id(0)).sum = 0;
    rt.send<&entry::give>(all, 1U);
  }
  rt.wait_quiescence();
  if (rt.rank().value() == 0) {
    EXPECT_EQ(board_of(rank_id(0)).sum, 7U * rt.size());
  }
  EXPECT_EQ(lost, 1);
  rt.barrier();
  rt.destroy(all);
  rt.on_delivery_error([](const delivery_error&) {});
}

rank_id home_of_seat(const seat& seat, std::uint32_t ranks) { return rank_id((seat.group + 1) % ranks); }

/// Every operation on a key finds the element on the rank that the program's function names.
void homes_of_the_program(runtime& rt, std::uint64_t) {
  const auto all = rt.create_array<entry>(keyed_by<std::uint64_t>{
      .home = [](const std::uint64_t& key, std::uint32_t ranks) { return (key / 8 + 1) % ranks; }});
  const auto seats = rt.create_array<entry>(keyed_by<seat>{.home = &home_of_seat}, sparse);
  const auto predicate = [](const entry&, context& ctx) { return ctx.rank().value(); };
  for (std::uint64_t key = 0; key < 64; ++key) rt.send<&entry::add>(all[key], key);
  const seat own_seat{rt.rank().value(), 3};
  rt.insert(seats, own_seat, "mine", 1U).get();
  rt.wait_quiescence();
  for (std::uint64_t key = rt.rank().value(); key < 64; key += 5) {
    const auto home = static_cast<std::uint32_t>((key / 8 + 1) % rt.size());
    const mobile_ptr<entry> element = rt.element_of(all, key).get();
    EXPECT_EQ(element.id().birth(), rank_id(home)) << key;
    EXPECT_EQ(rt.call(all[key], predicate).get(), rt.home_of(element).value()) << key;
  }
  for (std::uint32_t group = 0; group < rt.size(); ++group) {
    const mobile_ptr<entry> element = rt.element_of(seats, {group, 3}).get();
    EXPECT_EQ(element.id().birth(), rank_id((group + 1) % rt.size())) << group;
    EXPECT_EQ(rt.call(seats[{group, 3}], predicate).get(), rt.home_of(element).value()) << group;
  }
  EXPECT_EQ(rt.reduce<&entry::value>(all, std::plus<>{}).get(), std::uint64_t{64 * 63 / 2} * rt.size());
  rt.barrier();
  const mobile_ptr<entry> moved = rt.element_of(seats, own_seat).get();
  rt.migrate(moved, rank_id(0)).get();
  EXPECT_EQ(rt.call(seats[own_seat], predicate).get(), 0U);
  rt.barrier();
  rt.erase(seats, own_seat).get();
  rt.insert(seats, own_seat, "again", 2U).get();
  EXPECT_EQ(rt.call(seats[own_seat], predicate).get(), rt.home_of(moved).value()) << "made anew at its home";
  rt.barrier();
  rt.destroy(seats);
  rt.destroy(all);
}

constexpr scenario all_of_them[] = {
    {"words_are_counted_by_elements_of_their_own", &words_of_all},
    {"keys_that_share_a_hash_have_elements_of_their_own", &keys_of_one_hash},
    {"messages_to_a_key_keep_their_order_while_its_element_moves", &order_while_they_move},
    {"elements_of_keys_are_inserted_and_erased", &inserted_and_erased},
    {"keys_have_the_homes_that_the_program_gives_them", &homes_of_the_program},
};

}  // namespace

std::span<const scenario> keyed_scenarios() { return all_of_them; }

}  // namespace nacre::tests
