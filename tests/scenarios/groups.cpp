// SPDX-License-Identifier: Apache-2.0
// Groups: one object on every rank, messages to one or to all, results of all, their ends, and misuse.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

/// Neither movable nor serializable nor made without arguments.
class tally {
 public:
  tally(rank_id rank, std::uint64_t start) : rank_(rank), held_(start) {}
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;

  void add(std::uint64_t n) { held_ += n; }
  std::uint64_t held() const { return held_; }
  std::string name() const { return std::to_string(rank_.value()) + ";"; }
  std::uint64_t checked(context& ctx, std::span<const std::uint64_t> all) {
    EXPECT_EQ(ctx.rank(), rank_);
    return held_ + all.size();
  }
  std::uint64_t fail_on(rank_id rank) const {
    if (rank == rank_) throw std::out_of_range("the tally is tired");
    return 1;
  }
  task<std::uint64_t> ask(context& ctx, group_ptr<tally> all) const {
    const std::uint64_t next = co_await ctx.call<&tally::held>(all[next_of(ctx)]);
    co_return next + ctx.local(all).held();
  }
  void note(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    notes_ += text;
  }
  std::size_t notes() {
    const std::scoped_lock lock(mutex_);
    return notes_.size();
  }

 private:
  const rank_id rank_;
  std::atomic<std::uint64_t> held_;
  std::mutex mutex_;
  std::string notes_;  // under mutex_
};
static_assert(std::is_trivially_copyable_v<group_ptr<tally>> && std::is_trivially_copyable_v<group_member<tally>>);
static_assert(sizeof(group_ptr<tally>) == sizeof(std::uint32_t), "a handle has no number of ranks: it may change");

void reach_one_and_all(runtime& rt, std::uint64_t seed) {
  const auto g = rt.create_group<tally>(rt.rank(), seed);
  rt.send<&tally::add>(g[next_of(rt)], 1);
  rt.send<&tally::add>(g, 1);
  rt.send<&tally::note>(g, "twelve bytes");
  rt.send(
      g[next_of(rt)], [](tally& t, context&, std::uint64_t n) { t.add(n); }, 10);
  rt.send(with{.category = category::communication}, g, [](tally& t) { t.add(1); });
  rt.wait_quiescence();
  const std::uint64_t expected = seed + 11 + 2 * rt.size();
  EXPECT_EQ(rt.local(g).held(), expected);
  EXPECT_EQ(rt.local(g).notes(), 12 * rt.size());
  EXPECT_EQ(rt.call<&tally::held>(g[next_of(rt)]).get(), expected);
  EXPECT_EQ(rt.call(g[next_of(rt)], [](const tally& t) { return t.held(); }).get(), expected);
  EXPECT_EQ(rt.call<&tally::checked>(g[next_of(rt)], std::vector<std::uint64_t>(3)).get(), expected + 3);
  EXPECT_EQ(rt.call<&tally::ask>(g[next_of(rt)], g).get(), 2 * expected);
  rt.barrier();
  rt.destroy(g);
}

void combine_results(runtime& rt, std::uint64_t) {
  const auto g = rt.create_group<tally>(rt.rank(), rt.rank().value());
  const std::uint64_t ranks = rt.size(), sum = ranks * (ranks - 1) / 2;
  EXPECT_EQ(rt.reduce<&tally::held>(g, std::plus<>{}).get(), sum);
  EXPECT_EQ(rt.reduce(
                  g, [](const tally& t, std::uint64_t n) { return t.held() * n; }, std::plus<>{}, 2)
                .get(),
            2 * sum);
  std::string in_order;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) in_order += std::to_string(rank) + ";";
  EXPECT_EQ(rt.reduce<&tally::name>(g, std::plus<>{}).get(), in_order);
  rt.barrier();
  rt.call<&tally::add>(g, 3).get();
  rt.call<&tally::checked>(g, std::vector<std::uint64_t>(3)).get();
  rt.barrier();
  EXPECT_EQ(rt.reduce<&tally::held>(g, std::plus<>{}).get(), sum + 3 * ranks * ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_THROW(rt.reduce<&tally::fail_on>(g, std::plus<>{}, rank_id(rank)).get(), call_error);
    EXPECT_THROW(rt.call<&tally::fail_on>(g, rank_id(rank)).get(), call_error);
  }
  rt.barrier();
  rt.destroy(g);
}

/// A handler gets the handle in its message, and sends on.
void pass_on(context& ctx, group_ptr<tally> g, std::uint32_t hops) {
  ctx.local(g).add(1);
  if (hops > 0) ctx.send<pass_on>(next_of(ctx), g, hops - 1);
}

void use_from_handlers(runtime& rt, std::uint64_t seed) {
  const auto g = rt.create_group<tally>(rt.rank(), 0U);
  const auto other = rt.create_group<tally>(rt.rank(), 5U);
  EXPECT_NE(g, other);
  EXPECT_EQ(rt.broadcast(g, rank_id{0}), g);
  rt.send<pass_on>(next_of(rt), g, static_cast<std::uint32_t>(seed * rt.size() - 1));
  rt.wait_quiescence();
  EXPECT_EQ(rt.local(g).held(), seed * rt.size());
  EXPECT_EQ(rt.local(other).held(), 5U);
  rt.barrier();
  rt.destroy(g);
  EXPECT_EQ(rt.local(other).held(), 5U);
  rt.destroy(other);
}

struct picky {
  explicit picky(bool throws) {
    if (throws) throw std::domain_error("not on this rank");
  }
  int one() const { return 1; }
};

void constructors_that_throw(runtime& rt, std::uint64_t) {
  const rank_id last(rt.size() - 1);
  for (int round = 0; round < 2; ++round) {
    try {
      static_cast<void>(rt.create_group<picky>(rt.rank() == last));
      ADD_FAILURE() << "no exception";
    } catch (const std::domain_error&) {
      EXPECT_EQ(rt.rank(), last);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(rt.rank(), last);
      EXPECT_NE(std::string(error.what()).find("not on this rank"), std::string::npos) << error.what();
    }
  }
  const auto g = rt.create_group<picky>(false);
  EXPECT_EQ(rt.reduce<&picky::one>(g, std::plus<>{}).get(), static_cast<int>(rt.size()));
  rt.barrier();
  rt.destroy(g);
}

void misuse_of_groups(runtime& rt, std::uint64_t) {
  const group_ptr<tally> none;
  EXPECT_FALSE(none);
  EXPECT_THROW(static_cast<void>(none[rank_id{0}]), usage_error);
  EXPECT_THROW(static_cast<void>(rt.local(none)), usage_error);
  const auto g = rt.create_group<tally>(rt.rank(), 0U);
  EXPECT_THROW(rt.send<&tally::add>(g[rank_id(rt.size())], 1), usage_error);
  EXPECT_THROW(static_cast<void>(rt.call<&tally::held>(g[rank_id(rt.size())])), usage_error);
  const group_ptr<picky> of_another_class(g.number());
  EXPECT_THROW(static_cast<void>(rt.local(of_another_class)), usage_error);
  EXPECT_THROW(rt.call<&picky::one>(of_another_class[next_of(rt)]).get(), call_error);
  const group_ptr<tally> later(g.number() + 1000);
  EXPECT_THROW(static_cast<void>(rt.local(later)), usage_error);
  rt.barrier();
  rt.destroy(g);
  EXPECT_THROW(static_cast<void>(rt.local(g)), usage_error);
  try {
    static_cast<void>(rt.call<&tally::held>(g[next_of(rt)]).get());
    ADD_FAILURE() << "a group that has ended answers";
  } catch (const call_error& error) {
    EXPECT_NE(std::string(error.what()).find("rt.create_group before the first use"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(rt.destroy(g), usage_error);
}

void many(runtime& rt, std::uint64_t) {
  std::vector<group_ptr<tally>> all;
  for (std::uint64_t index = 0; index < 70; ++index) all.push_back(rt.create_group<tally>(rt.rank(), index));
  for (const auto& each : all) rt.send<&tally::add>(each[next_of(rt)], 100);
  rt.wait_quiescence();
  for (std::uint64_t index = 0; index < all.size(); ++index) EXPECT_EQ(rt.local(all[index]).held(), 100 + index);
  rt.barrier();
  for (std::size_t index = 0; index < all.size(); index += 23) rt.destroy(all[index]);
  EXPECT_EQ(rt.local(all[1]).held(), 101U);  // those that are left end with the job
}

constexpr std::array groups_table{
    scenario{"objects_of_groups_are_reached_one_by_one_and_all_together", reach_one_and_all},
    scenario{"results_of_a_group_are_combined_in_the_order_of_the_ranks", combine_results},
    scenario{"handlers_carry_groups_and_find_their_ranks_object", use_from_handlers},
    scenario{"a_constructor_that_throws_on_one_rank_ends_create_group_on_all", constructors_that_throw},
    scenario{"misuse_of_groups_is_told", misuse_of_groups},
    scenario{"there_may_be_many_groups", many},
};

}  // namespace

std::span<const scenario> group_scenarios() { return groups_table; }

}  // namespace nacre::tests
