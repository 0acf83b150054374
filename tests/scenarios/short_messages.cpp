// SPDX-License-Identifier: Apache-2.0
// Many short messages to many objects, which travel and run in bundles: each runs once, in the order of its sender,
// whatever else the objects do.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/rng.hpp>

#include "base/marks.hpp"
#include "base/sanitized.hpp"
#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr std::uint64_t ledgers = 40;
constexpr std::uint64_t messages_of_all = sanitized ? 3'000 : 12'000;  // of all ranks

std::uint64_t twice_as_much(std::uint64_t number) { return 2 * number; }

/// Knows the number of the next message from each main.
struct ledger {
  std::vector<std::uint64_t> next{};  // by rank
  std::uint64_t heard = 0, wrong = 0;

  void hear(std::uint32_t source, std::uint64_t number) {
    ++heard;
    if (next.size() <= source) next.resize(source + 1);
    if (next[source]++ != number) ++wrong;
  }
  void hear_much(std::uint32_t source, std::uint64_t number, const std::vector<std::uint64_t>&) {
    hear(source, number);
  }
  void work(context& ctx, std::uint32_t source, std::uint64_t number) {
    hear(source, number);
    ctx.charge(20e-6);
  }
  void wander(context& ctx, std::uint32_t source, std::uint64_t number) {
    hear(source, number);
    ctx.migrate(ctx.self<ledger>(), next_of(ctx));
  }
  std::uint64_t answer(std::uint32_t source, std::uint64_t number) {
    hear(source, number);
    return number;
  }
  task<void> think(context& ctx, std::uint32_t source, std::uint64_t number) {
    hear(source, number);
    static_cast<void>(co_await ctx.call<twice_as_much>(next_of(ctx), number));
  }
  std::uint64_t all_heard() const { return heard; }
  std::uint64_t all_wrong() const { return wrong; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, heard, wrong);
  }
};

void expect_all(runtime& rt, const array_ptr<ledger>& all, std::uint64_t sent) {
  rt.wait_quiescence();
  const std::uint64_t expected = rt.all_reduce(sent, std::plus<>{});
  if (rt.rank().value() == 0) {
    EXPECT_EQ(rt.reduce<&ledger::all_heard>(all, std::plus<>{}).get(), expected);
    EXPECT_EQ(rt.reduce<&ledger::all_wrong>(all, std::plus<>{}).get(), 0U) << "messages have overtaken each other";
  }
  rt.wait_quiescence();
  rt.destroy(all);
}

/// Nearly all are short; the others spend time, ask, move their object, or wait within their handler.
void of_every_kind(runtime& rt, std::uint64_t seed) {
  const auto all = rt.create_array<ledger>(extents{ledgers});
  rng random = rng(seed).fork(rt.rank().value());
  std::vector<std::uint64_t> sent(ledgers);
  std::vector<future<std::uint64_t>> answers;
  const std::uint32_t own_rank = rt.rank().value();
  const std::uint64_t each = messages_of_all / rt.size();
  const bool calm = seed % 2 == 0;  // so that whole bundles of one kind run
  for (std::uint64_t count = 0; count < each; ++count) {
    const std::uint64_t target = random.below(ledgers), number = sent[target]++;
    const mobile_ptr<ledger> element = all[{target}];
    switch (random.below(calm ? 2000 : 50)) {
      case 0:
        rt.send<&ledger::wander>(element, own_rank, number);
        break;
      case 1:
        rt.send<&ledger::work>(element, own_rank, number);
        break;
      case 2:
        rt.send<&ledger::think>(element, own_rank, number);
        break;
      case 3:
        answers.push_back(rt.call<&ledger::answer>(element, own_rank, number));
        EXPECT_LE(number, answers.back().get());
        break;
      default:
        rt.send<&ledger::hear>(element, own_rank, number);
    }
  }
  expect_all(rt, all, each);
}

std::uint64_t set_aside_in_this_process() {
  for (const mark* each : mark::all()) {
    if (each->name() == "a message comes before an earlier one and is set aside") return each->hits();
  }
  return 0;
}

/// Some are too long for a bundle. None comes early where a rank has one worker.
void with_longer_ones_between(runtime& rt, std::uint64_t seed) {
  const auto all = rt.create_array<ledger>(extents{ledgers});
  rng random = rng(seed).fork(rt.rank().value());
  std::vector<std::uint64_t> sent(ledgers);
  const std::uint64_t each = messages_of_all / rt.size();
  const std::uint64_t previous = set_aside_in_this_process();
  rt.barrier();
  for (std::uint64_t count = 0; count < each; ++count) {
    const std::uint64_t target = random.below(ledgers), number = sent[target]++;
    if (random.below(40) == 0) {
      rt.send<&ledger::hear_much>(all[{target}], rt.rank().value(), number,
                                  std::vector<std::uint64_t>(random.below(2000)));
    } else {
      rt.send<&ledger::hear>(all[{target}], rt.rank().value(), number);
    }
  }
  rt.wait_quiescence();
  const std::uint64_t early = rt.all_reduce(set_aside_in_this_process() - previous, std::plus<>{});
  if (rt.workers() == 1) {
    EXPECT_EQ(early, 0U);
  }
  expect_all(rt, all, each);
}

constexpr std::array every{
    scenario{"short_messages_of_every_kind_run_once_and_in_order", of_every_kind},
    scenario{"short_messages_run_in_order_with_longer_ones_between", with_longer_ones_between},
};

}  // namespace

std::span<const scenario> short_message_scenarios() { return every; }

}  // namespace nacre::tests
