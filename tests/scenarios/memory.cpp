// SPDX-License-Identifier: Apache-2.0
// One-sided memory: what is put and got, every bad access, and the ends of transfers and of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

using numbers = std::vector<std::uint64_t>;

/// The reason with which a transfer failed.
std::string failure(future<void> future) {
  try {
    future.get();
    return "";
  } catch (const call_error& error) {
    return error.what();
  }
}

/// Every rank has a slice of its own in every rank's memory, so that its transfers meet nobody else's but share the
/// way.
void random_transfers(runtime& rt, std::uint64_t seed) {
  const std::size_t slice = seed % 3 == 0 ? 40'000 : 900;
  rng random = rng(seed).fork(rt.rank().value());
  numbers mine(slice * rt.size());
  auto exposed = rt.expose(std::span(mine));
  std::vector<remote_memory<std::uint64_t>> all;
  for (std::uint32_t r = 0; r < rt.size(); ++r) all.push_back(rt.broadcast(exposed, rank_id(r)));
  std::vector<numbers> model(rt.size(), numbers(slice));
  for (int round = 0; round < 6; ++round) {
    std::vector<future<void>> under_way;
    std::vector<std::pair<numbers, numbers>> got;
    got.reserve(rt.size());
    std::vector<numbers> sources;
    sources.reserve(rt.size());
    for (std::uint32_t r = 0; r < rt.size(); ++r) {
      const std::size_t length = random.below(random.below(2) == 0 ? 8 : slice);
      const std::size_t begin = random.below(slice - length + 1);
      const auto position = model[r].begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t offset = rt.rank().value() * slice + begin;
      if (random.below(2) == 0) {
        sources.emplace_back(length);
        for (std::uint64_t& each : sources.back()) each = random.next();
        std::copy(sources.back().begin(), sources.back().end(), position);
        under_way.push_back(rt.put(all[r], offset, sources.back()));
      } else {
        got.emplace_back(numbers(length, 1), numbers(position, position + static_cast<std::ptrdiff_t>(length)));
        under_way.push_back(rt.get(all[r], offset, got.back().first));
      }
    }
    for (auto& each : under_way) each.get();
    for (const auto& [value, should_be] : got) ASSERT_EQ(value, should_be);
  }
  for (std::uint32_t r = 0; r < rt.size(); ++r) {
    numbers whole(slice);
    rt.get(all[r], rt.rank().value() * slice, whole).get();
    ASSERT_EQ(whole, model[r]);
  }
  rt.barrier();
  rt.withdraw(exposed);
}

void refuses_forged_names(runtime& rt, const remote_memory<std::uint64_t>& target, numbers& local) {
  const auto forged = [&](auto change) {
    detail::memory_name name = target.name();
    change(name);
    const remote_memory<std::uint64_t> handle(name);
    const std::string reason = failure(rt.put(handle, 0, std::span(local).first(1)));
    EXPECT_EQ(failure(rt.get(handle, 0, std::span(local).first(1))).substr(4), reason.substr(4));
    return reason;
  };
  EXPECT_NE(forged([](auto& name) { name.key[0] ^= 1; }).find("key"), std::string::npos);
  EXPECT_NE(forged([](auto& name) { name.segment = 77; }).find("no such memory"), std::string::npos);
  EXPECT_NE(forged([](auto& name) { name.segment = 0; }).find("no such memory"), std::string::npos);
  EXPECT_NE(forged([&](auto& name) { name.rank = rt.size(); }).find("no such memory"), std::string::npos);
  EXPECT_NE(forged([](auto& name) { name.rank = 1'000'000; }).find("no such memory"), std::string::npos);
  EXPECT_EQ(local, numbers(100, 7));
}

void bad_accesses(runtime& rt, std::uint64_t) {
  numbers mine(100, 5);
  const numbers fixed{1, 2, 3};
  const auto exposed = rt.expose(mine);
  const auto constant = rt.expose(std::span(fixed));
  std::vector<remote_memory<std::uint64_t>> all;
  std::vector<remote_memory<const std::uint64_t>> constants;
  for (std::uint32_t r = 0; r < rt.size(); ++r) {
    all.push_back(rt.broadcast(exposed, rank_id(r)));
    constants.push_back(rt.broadcast(constant, rank_id(r)));
  }
  const auto value = all[next_of(rt).value()];
  numbers local(100, 7);
  const std::size_t none = static_cast<std::size_t>(-1);
  for (const std::size_t offset : {std::size_t{1}, std::size_t{101}, none, none / 8, none / 8 + 1}) {
    EXPECT_NE(failure(rt.put(value, offset, local)).find("inside"), std::string::npos) << offset;
    EXPECT_NE(failure(rt.get(value, offset, local)).find("inside"), std::string::npos) << offset;
  }
  EXPECT_NE(failure(rt.put(value, 101, {})).find("inside"), std::string::npos);
  EXPECT_EQ(failure(rt.put(value, 100, {})), "");
  refuses_forged_names(rt, value, local);
  auto huge = value.name();  // a lie about the length, with more pieces than one
  huge.bytes = 1u << 30;
  numbers much(50'000, 9);
  EXPECT_NE(failure(rt.put(remote_memory<std::uint64_t>(huge), 0, much)).find("inside"), std::string::npos);
  const auto cheated = remote_memory<std::uint64_t>(constants[value.rank().value()].name());
  EXPECT_NE(failure(rt.put(cheated, 0, std::span(local).first(3))).find("reading only"), std::string::npos);
  rt.get(cheated, 0, std::span(local).first(3)).get();
  EXPECT_EQ(local[2], 3U);
  rt.barrier();
  EXPECT_EQ(mine, numbers(100, 5));
  EXPECT_EQ(fixed, (numbers{1, 2, 3}));
  rt.withdraw(exposed);
  EXPECT_THROW(rt.withdraw(exposed), usage_error);
  EXPECT_THROW(rt.withdraw(value), usage_error);  // another rank's, or withdrawn
  rt.barrier();
  EXPECT_NE(failure(rt.put(value, 0, local)).find("withdrawn"), std::string::npos);
  EXPECT_NE(failure(rt.get(value, 0, local)).find("withdrawn"), std::string::npos);
  rt.barrier();
  EXPECT_EQ(mine, numbers(100, 5));
}

/// Fetches, changes and puts back: what only an owner of the memory could do by message.
task<std::uint64_t> raise(context& ctx, remote_memory<std::uint64_t> remote_memory, std::uint64_t step) {
  numbers numbers(remote_memory.size());
  co_await ctx.get(remote_memory, 0, numbers);
  for (std::uint64_t& each : numbers) each += step;
  co_await ctx.put(remote_memory, 0, numbers);
  co_return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

std::string refused_wait(context& ctx, remote_memory<std::uint64_t> remote_memory) {
  numbers numbers(remote_memory.size());
  try {
    ctx.get(remote_memory, 0, numbers).wait();
  } catch (const usage_error& error) {
    return error.what();
  }
  return "";
}

void coroutines(runtime& rt, std::uint64_t) {
  numbers mine(30'000, rt.rank().value());
  const auto exposed = rt.expose(std::span(mine));
  rt.send<raise>(next_of(rt), exposed, std::uint64_t{1});
  rt.wait_quiescence();
  EXPECT_EQ(mine, numbers(30'000, rt.rank().value() + 1));
  EXPECT_EQ(rt.call<raise>(next_of(rt), exposed, std::uint64_t{2}).get(), (rt.rank().value() + 3) * 30'000U);
  EXPECT_NE(rt.call<refused_wait>(next_of(rt), exposed).get().find("co_await"), std::string::npos);
  rt.wait_quiescence();  // the refused get may still be under way
  rt.withdraw(exposed);
}

void dropped_futures_of_memory(runtime& rt, std::uint64_t) {
  numbers mine(60'000, 1);
  const auto exposed = rt.expose(std::span(mine));
  const auto remote_memory = rt.broadcast(exposed, rank_id(0));
  for (int round = 0; round < 20; ++round) {
    auto local = std::make_unique<numbers>(mine.size() / rt.size(), 1);
    const std::size_t offset = local->size() * rt.rank().value();
    static_cast<void>(round % 2 == 0 ? rt.put(remote_memory, offset, *local) : rt.get(remote_memory, offset, *local));
    std::fill(local->begin(), local->end(), 2);  // a race, were anybody still there
    EXPECT_EQ(std::count(local->begin(), local->end(), 2U), static_cast<std::ptrdiff_t>(local->size()));
  }
  rt.wait_quiescence();
  rt.withdraw(exposed);
  EXPECT_EQ(mine, numbers(60'000, 1));
}

/// Goes on until the memory is gone; how many accesses came first.
task<int> hammer(context& ctx, remote_memory<std::uint64_t> remote_memory, std::size_t part) {
  numbers numbers(remote_memory.size() / 8, part);
  for (int count = 0;; ++count) {
    try {
      if (count % 2 == 0) {
        co_await ctx.put(remote_memory, part * numbers.size(), numbers);
      } else {
        co_await ctx.get(remote_memory, part * numbers.size(), numbers);
      }
    } catch (const call_error& error) {
      if (std::string(error.what()).find("withdrawn") == std::string::npos) throw;
      co_return count;
    }
    ctx.charge(1e-6);
  }
}

void withdraw_under_fire(runtime& rt, std::size_t size) {
  auto mine = std::make_unique<numbers>(size, 1);
  const auto exposed = rt.expose(std::span(*mine));
  std::vector<future<int>> busy;
  for (std::uint32_t part = 0; part < 4; ++part) {
    busy.push_back(rt.call<hammer>(rank_id((rt.rank().value() + part) % rt.size()), exposed, std::size_t{part}));
  }
  numbers last(1);
  for (int look = 0; look < 3; ++look) rt.get(exposed, size - 1, last).get();
  rt.withdraw(exposed);
  std::fill(mine->begin(), mine->end(), 9);  // a race, were anybody still there
  EXPECT_EQ(std::count(mine->begin(), mine->end(), 9U), static_cast<std::ptrdiff_t>(mine->size()));
  mine.reset();
  for (auto& each : busy) EXPECT_GE(each.get(), 0);
}

/// Ranks withdraw while they are accessed: small memory, large, and in between.
void withdrawals(runtime& rt, std::uint64_t) {
  for (const std::size_t size : {80, 80'000, 800}) {
    withdraw_under_fire(rt, size);
    rt.wait_quiescence();
  }
}

/// More than the window holds, so that each end of a piece lets another one leave.
void long_puts(runtime& rt, std::uint64_t) {
  numbers mine(400'000), local(mine.size(), 8);
  const auto exposed = rt.expose(std::span(mine));
  std::vector<remote_memory<std::uint64_t>> all;
  for (std::uint32_t r = 0; r < rt.size(); ++r) all.push_back(rt.broadcast(exposed, rank_id(r)));
  auto done = rt.put(all[next_of(rt).value()], 0, local);
  rt.wait_quiescence();
  EXPECT_TRUE(mine == local);
  done.get();
  rt.barrier();
  rt.withdraw(exposed);
}

/// No two keys of a job are alike.
void keys(runtime& rt, std::uint64_t) {
  numbers mine(1);
  const auto one = rt.expose(std::span(mine)), other = rt.expose(std::span(mine));
  auto all = rt.all_gather(std::vector{one.name().key, other.name().key});
  std::vector<std::array<std::uint64_t, 2>> flat;
  for (const auto& of_rank : all) flat.insert(flat.end(), of_rank.begin(), of_rank.end());
  std::sort(flat.begin(), flat.end());
  EXPECT_EQ(std::adjacent_find(flat.begin(), flat.end()), flat.end());
  rt.withdraw(one);
  rt.withdraw(other);
}

constexpr std::array memory_table{
    scenario{"random_puts_and_gets_agree_with_a_model", random_transfers},
    scenario{"every_bad_access_fails_at_its_caller_and_writes_nothing", bad_accesses},
    scenario{"coroutines_await_transfers_and_quiescence_waits_for_them", coroutines},
    scenario{"quiescence_waits_for_the_last_piece_of_a_transfer_that_nobody_awaits", long_puts},
    scenario{"a_dropped_future_gives_the_callers_memory_back_at_once", dropped_futures_of_memory},
    scenario{"nothing_touches_the_memory_once_withdraw_has_returned", withdrawals},
    scenario{"no_two_keys_are_alike", keys},
};

}  // namespace

std::span<const scenario> memory_scenarios() { return memory_table; }

}  // namespace nacre::tests
