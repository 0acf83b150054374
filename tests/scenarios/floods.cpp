// SPDX-License-Identifier: Apache-2.0
// Many messages at a time: none is lost or doubled, those of one sender stay in order, and senders are slowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/marks.hpp"
#include "base/sanitized.hpp"
#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr std::uint64_t flood = sanitized ? 2'000 : 12'000;  // messages of all ranks

using cargo = std::array<std::uint64_t, 6>;

void sink(context& ctx, cargo cargo) {
  board_of(ctx.rank()).sum += cargo[0];
  ++board_of(ctx.rank()).seen;
}

std::uint64_t sum_below(std::uint64_t n) { return n * (n - 1) / 2; }

/// Every rank floods rank 0, and then all others in turns.
void from_mains(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const std::uint64_t each = flood / rt.size();
  for (std::uint64_t number = 0; number < each; ++number) rt.send<sink>(rank_id(0), cargo{number});
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), each * rt.size());
  EXPECT_EQ(total(rt, &board::sum), sum_below(each) * rt.size());
  fresh_board(rt);
  for (std::uint64_t number = 0; number < each; ++number) {
    rt.send<sink>(rank_id((rt.rank().value() + number) % rt.size()), cargo{number});
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), each * rt.size());
  EXPECT_EQ(total(rt, &board::sum), sum_below(each) * rt.size());
}

/// Each starts two more of half the size on the next rank.
void split(context& ctx, cargo cargo, std::uint64_t left) {
  if (left == 1) return sink(ctx, cargo);
  ctx.send<split>(next_of(ctx), cargo, left / 2);
  ctx.send<split>(next_of(ctx), cargo, left - left / 2);
}

void floods_from_handlers(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const std::uint64_t each = flood / rt.size();
  rt.send<split>(next_of(rt), cargo{1}, each);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), each * rt.size());
  EXPECT_EQ(total(rt, &board::sum), each * rt.size());
}

/// The number that a rank awaits from each other one, on each channel. Only the poll loop of the rank touches it.
struct awaited {
  std::array<std::uint64_t, 64> next{};
};
awaited& awaited_by(rank_id rank, channel channel) {
  static std::array<std::array<awaited, 3>, 64> all;
  return all.at(rank.value()).at(static_cast<std::size_t>(channel));
}

void numbered(context& ctx, channel channel, std::uint64_t number, std::span<const std::uint64_t>) {
  std::uint64_t& next = awaited_by(ctx.rank(), channel).next.at(ctx.source().value());
  if (number != next) ++board_of(ctx.rank()).failed;
  next = number + 1;
  ++board_of(ctx.rank()).seen;
}

/// Handlers in the poll loop run as messages arrive, which must be as one rank has sent them on one channel: short ones
/// that travel together, long ones that do not, and others between them.
void order_from_rank_to_rank(runtime& rt, std::uint64_t seed) {
  for (const channel channel : {channel::system, channel::application, channel::bulk}) {
    awaited_by(rt.rank(), channel).next.fill(0);
  }
  fresh_board(rt);
  rng random = rng(seed).fork(rt.rank().value());
  const std::vector<std::uint64_t> much(4000, 1);
  const std::uint64_t each = flood / 4 / rt.size();
  constexpr std::array lengths{std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{40}, std::size_t{600}};
  for (std::uint64_t number = 0; number < each; ++number) {
    const bool long_one = number % 50 == 0;
    const std::size_t length = long_one ? random.below(much.size()) : lengths[random.below(lengths.size())];
    for (std::uint32_t r = 0; r < rt.size(); ++r) {
      for (const channel channel : {channel::system, channel::application, channel::bulk}) {
        const with options{.category = category::communication, .channel = channel};
        const std::size_t words = channel == channel::system ? length % 8 : length;
        rt.send<numbered>(options, rank_id(r), channel, number, std::span(much).first(words));
      }
      if (random.below(4) == 0) rt.send<sink>(rank_id(r), cargo{});
    }
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::failed), 0U) << "messages of one rank on one channel have overtaken each other";
  for (const channel channel : {channel::system, channel::application, channel::bulk}) {
    for (std::uint32_t r = 0; r < rt.size(); ++r) EXPECT_EQ(awaited_by(rt.rank(), channel).next[r], each);
  }
  rt.barrier();
}

/// An object of a rank, whose handlers send to it and to that of the next rank.
struct searcher {
  mobile_ptr<searcher> own_pointer, next;
  void meet(mobile_ptr<searcher> self, mobile_ptr<searcher> other) {
    own_pointer = self;
    next = other;
  }
  void expand(context& ctx, cargo, std::uint64_t left) {
    ++board_of(ctx.rank()).seen;
    for (std::uint64_t rest = left - 1, part = 0; rest != 0; rest -= part) {
      part = std::min<std::uint64_t>(rest, left / 8 + 1);
      ctx.send<&searcher::expand>(part % 2 == 0 ? own_pointer : next, cargo{}, part);
    }
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(own_pointer, next);
  }
};

std::uint64_t early_messages_of_this_process() {
  for (const mark* each : mark::all()) {
    if (each->name() == "a message comes before an earlier one and is set aside") return each->hits();
  }
  return 0;
}

/// However long a rank cannot send, what it keeps back for an object of its own stays in order.
void from_objects_that_do_not_move(runtime& rt, std::uint64_t) {
  fresh_board(rt);
  const auto mine = rt.create<searcher>();
  const auto everyone = rt.all_gather(mine);
  rt.call<&searcher::meet>(mine, mine, everyone[next_of(rt).value()]).get();
  const std::uint64_t previous = early_messages_of_this_process();
  rt.barrier();
  const std::uint64_t each = 4 * flood / rt.size();
  rt.send<&searcher::expand>(mine, cargo{}, each);
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), each * rt.size());
  const std::uint64_t early = rt.all_reduce(early_messages_of_this_process() - previous, std::plus<>{});
  // Where a rank has one worker, nothing can come between a number and its place in the row.
  EXPECT_LE(early, rt.workers() == 1 ? 0 : each / 8);
  rt.destroy(mine);
  rt.wait_quiescence();
}

constexpr std::array floods_table{
    scenario{"floods_of_mains_arrive_complete", from_mains},
    scenario{"floods_of_handlers_arrive_complete", floods_from_handlers},
    scenario{"messages_to_objects_that_do_not_move_are_never_early", from_objects_that_do_not_move},
    scenario{"messages_from_rank_to_rank_stay_in_order", order_from_rank_to_rank},
};

}  // namespace

std::span<const scenario> flood_scenarios() { return floods_table; }

}  // namespace nacre::tests
