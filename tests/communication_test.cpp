// SPDX-License-Identifier: Apache-2.0
// One-sided memory, collectives and futures on threads, on processes and on a simulated machine.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/slab_pool.hpp"
#include "transport/transport.hpp"
#include "transports.hpp"

namespace {

using nacre::rank_id;
using numbers = std::vector<std::uint64_t>;

struct setting {
  const char* transport;
  int ranks;
  int workers;
};

nacre::config settings(setting of, std::uint64_t seed = 1) {
  nacre::config made;
  made.set("transport", of.transport);
  made.set("ranks", std::to_string(of.ranks));
  made.set("workers", std::to_string(of.workers));
  made.set("seed", std::to_string(seed));
  return made;
}

rank_id next_of(const nacre::operations& ops) { return rank_id((ops.rank().value() + 1) % ops.size()); }

/// The reason with which a transfer failed.
std::string failure(nacre::future<void> of) {
  try {
    of.get();
    return "";
  } catch (const nacre::call_error& error) {
    return error.what();
  }
}

class communication_on : public testing::TestWithParam<setting> {
 protected:
  static void run(const std::function<void(nacre::runtime&)>& main, std::uint64_t seed = 1) {
    ASSERT_EQ(nacre::run(settings(GetParam(), seed), main), 0);
  }
  [[nodiscard]] static bool simulated() { return std::string(GetParam().transport) == "sim"; }
};

/// Every rank has a slice of its own in every rank's memory, so that its transfers meet nobody else's but share the
/// way.
void random_transfers(nacre::runtime& rt, std::uint64_t seed, std::size_t slice) {
  nacre::rng random = nacre::rng(seed).fork(rt.rank().value());
  numbers mine(slice * rt.size());
  auto exposed = rt.expose(std::span(mine));
  std::vector<nacre::remote_memory<std::uint64_t>> all;
  for (std::uint32_t r = 0; r < rt.size(); ++r) all.push_back(rt.broadcast(exposed, rank_id(r)));
  std::vector<numbers> model(rt.size(), numbers(slice));
  for (int round = 0; round < 6; ++round) {
    std::vector<nacre::future<void>> under_way;
    std::vector<std::pair<numbers, numbers>> got;
    got.reserve(rt.size());
    std::vector<numbers> sources;
    sources.reserve(rt.size());
    for (std::uint32_t r = 0; r < rt.size(); ++r) {
      const std::size_t length = random.below(random.below(2) == 0 ? 8 : slice);
      const std::size_t begin = random.below(slice - length + 1);
      const auto there = model[r].begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t offset = rt.rank().value() * slice + begin;
      if (random.below(2) == 0) {
        sources.emplace_back(length);
        for (std::uint64_t& each : sources.back()) each = random.next();
        std::copy(sources.back().begin(), sources.back().end(), there);
        under_way.push_back(rt.put(all[r], offset, sources.back()));
      } else {
        got.emplace_back(numbers(length, 1), numbers(there, there + static_cast<std::ptrdiff_t>(length)));
        under_way.push_back(rt.get(all[r], offset, got.back().first));
      }
    }
    for (auto& each : under_way) each.get();
    for (const auto& [is, should_be] : got) ASSERT_EQ(is, should_be);
  }
  for (std::uint32_t r = 0; r < rt.size(); ++r) {
    numbers whole(slice);
    rt.get(all[r], rt.rank().value() * slice, whole).get();
    ASSERT_EQ(whole, model[r]);
  }
  rt.barrier();
  rt.withdraw(exposed);
}

TEST_P(communication_on, random_puts_and_gets_agree_with_a_model) {
  const std::uint64_t seeds = simulated() ? 25 : 3;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    run([&](nacre::runtime& rt) { random_transfers(rt, seed, seed % 3 == 0 ? 40'000 : 900); }, seed);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

void bad_accesses(nacre::runtime& rt) {
  numbers mine(100, 5);
  const numbers fixed{1, 2, 3};
  const auto exposed = rt.expose(std::span(mine));
  const auto constant = rt.expose(std::span(fixed));
  std::vector<nacre::remote_memory<std::uint64_t>> all;
  std::vector<nacre::remote_memory<const std::uint64_t>> constants;
  for (std::uint32_t r = 0; r < rt.size(); ++r) {
    all.push_back(rt.broadcast(exposed, rank_id(r)));
    constants.push_back(rt.broadcast(constant, rank_id(r)));
  }
  const auto to = all[next_of(rt).value()];
  numbers own(100, 7);
  const std::size_t none = static_cast<std::size_t>(-1);
  for (const std::size_t offset : {std::size_t{1}, std::size_t{101}, none, none / 8, none / 8 + 1}) {
    EXPECT_NE(failure(rt.put(to, offset, own)).find("inside"), std::string::npos) << offset;
    EXPECT_NE(failure(rt.get(to, offset, own)).find("inside"), std::string::npos) << offset;
  }
  EXPECT_NE(failure(rt.put(to, 101, {})).find("inside"), std::string::npos);
  EXPECT_EQ(failure(rt.put(to, 100, {})), "");
  const auto forged = [&](auto change) {
    nacre::detail::memory_name name = to.name();
    change(name);
    const nacre::remote_memory<std::uint64_t> handle(name);
    const std::string why = failure(rt.put(handle, 0, std::span(own).first(1)));
    EXPECT_EQ(failure(rt.get(handle, 0, std::span(own).first(1))).substr(4), why.substr(4));
    return why;
  };
  EXPECT_NE(forged([](auto& name) { name.key[0] ^= 1; }).find("key"), std::string::npos);
  EXPECT_NE(forged([](auto& name) { name.segment = 77; }).find("no such memory"), std::string::npos);
  EXPECT_NE(forged([](auto& name) { name.segment = 0; }).find("no such memory"), std::string::npos);
  EXPECT_NE(forged([](auto& name) { name.rank = 1'000'000; }).find("no such memory"), std::string::npos);
  EXPECT_EQ(own, numbers(100, 7));
  auto huge = to.name();  // a lie about the length, with more pieces than one
  huge.bytes = 1u << 30;
  numbers much(50'000, 9);
  EXPECT_NE(failure(rt.put(nacre::remote_memory<std::uint64_t>(huge), 0, much)).find("inside"), std::string::npos);
  const auto cheated = nacre::remote_memory<std::uint64_t>(constants[to.rank().value()].name());
  EXPECT_NE(failure(rt.put(cheated, 0, std::span(own).first(3))).find("reading only"), std::string::npos);
  rt.get(cheated, 0, std::span(own).first(3)).get();
  EXPECT_EQ(own[2], 3U);
  rt.barrier();
  EXPECT_EQ(mine, numbers(100, 5));
  EXPECT_EQ(fixed, (numbers{1, 2, 3}));
  rt.withdraw(exposed);
  EXPECT_THROW(rt.withdraw(exposed), nacre::usage_error);
  EXPECT_THROW(rt.withdraw(to), nacre::usage_error);  // another rank's, or withdrawn
  rt.barrier();
  EXPECT_NE(failure(rt.put(to, 0, own)).find("withdrawn"), std::string::npos);
  EXPECT_NE(failure(rt.get(to, 0, own)).find("withdrawn"), std::string::npos);
  rt.barrier();
  EXPECT_EQ(mine, numbers(100, 5));
}

TEST_P(communication_on, every_bad_access_fails_at_its_caller_and_writes_nothing) { run(bad_accesses); }

/// Fetches, changes and puts back: what only an owner of the memory could do by message.
nacre::task<std::uint64_t> raise(nacre::context& ctx, nacre::remote_memory<std::uint64_t> at, std::uint64_t by) {
  numbers here(at.size());
  co_await ctx.get(at, 0, here);
  for (std::uint64_t& each : here) each += by;
  co_await ctx.put(at, 0, here);
  co_return std::accumulate(here.begin(), here.end(), std::uint64_t{0});
}

std::string refused_wait(nacre::context& ctx, nacre::remote_memory<std::uint64_t> at) {
  numbers here(at.size());
  try {
    ctx.get(at, 0, here).wait();
  } catch (const nacre::usage_error& error) {
    return error.what();
  }
  return "";
}

TEST_P(communication_on, coroutines_await_transfers_and_quiescence_waits_for_them) {
  run([](nacre::runtime& rt) {
    numbers mine(30'000, rt.rank().value());
    const auto exposed = rt.expose(std::span(mine));
    rt.send<raise>(next_of(rt), exposed, std::uint64_t{1});
    rt.wait_quiescence();
    EXPECT_EQ(mine, numbers(30'000, rt.rank().value() + 1));
    EXPECT_EQ(rt.call<raise>(next_of(rt), exposed, std::uint64_t{2}).get(), (rt.rank().value() + 3) * 30'000U);
    EXPECT_NE(rt.call<refused_wait>(next_of(rt), exposed).get().find("co_await"), std::string::npos);
    rt.wait_quiescence();  // the refused get may still be under way
    rt.withdraw(exposed);
  });
}

TEST_P(communication_on, a_dropped_future_gives_the_callers_memory_back_at_once) {
  run([](nacre::runtime& rt) {
    numbers mine(60'000, 1);
    const auto exposed = rt.expose(std::span(mine));
    const auto to = rt.broadcast(exposed, rank_id(0));
    for (int round = 0; round < 20; ++round) {
      auto own = std::make_unique<numbers>(mine.size() / rt.size(), 1);
      const std::size_t offset = own->size() * rt.rank().value();
      static_cast<void>(round % 2 == 0 ? rt.put(to, offset, *own) : rt.get(to, offset, *own));
      std::fill(own->begin(), own->end(), 2);  // a race, were anybody still there
      EXPECT_EQ(std::count(own->begin(), own->end(), 2U), static_cast<std::ptrdiff_t>(own->size()));
    }
    rt.wait_quiescence();
    rt.withdraw(exposed);
    EXPECT_EQ(mine, numbers(60'000, 1));
  });
}

/// Goes on until the memory is gone; how many accesses came first.
nacre::task<int> hammer(nacre::context& ctx, nacre::remote_memory<std::uint64_t> at, std::size_t part) {
  numbers here(at.size() / 8, part);
  for (int count = 0;; ++count) {
    try {
      if (count % 2 == 0) {
        co_await ctx.put(at, part * here.size(), here);
      } else {
        co_await ctx.get(at, part * here.size(), here);
      }
    } catch (const nacre::call_error& error) {
      if (std::string(error.what()).find("withdrawn") == std::string::npos) throw;
      co_return count;
    }
    ctx.charge(1e-6);
  }
}

void withdraw_under_fire(nacre::runtime& rt, std::size_t size) {
  auto mine = std::make_unique<numbers>(size, 1);
  const auto exposed = rt.expose(std::span(*mine));
  std::vector<nacre::future<int>> busy;
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

TEST_P(communication_on, nothing_touches_the_memory_once_withdraw_has_returned) {
  for (const std::size_t size : {80, 80'000, 800}) run([size](nacre::runtime& rt) { withdraw_under_fire(rt, size); });
}

TEST_P(communication_on, keys_differ_and_under_simulation_follow_the_seed) {
  const auto keys_of = [&](std::uint64_t seed) {
    numbers keys(2 * static_cast<std::size_t>(GetParam().ranks) * 2);
    run(
        [&](nacre::runtime& rt) {
          numbers mine(1);
          for (std::size_t index = 0; index < 2; ++index) {
            const auto exposed = rt.expose(std::span(mine));
            std::copy(exposed.name().key.begin(), exposed.name().key.end(), &keys[4 * rt.rank().value() + 2 * index]);
            rt.withdraw(exposed);
          }
        },
        seed);
    return keys;
  };
  const numbers one = keys_of(1), again = keys_of(1), two = keys_of(2);
  EXPECT_EQ(one == again, simulated());
  EXPECT_NE(one, two);
  numbers sorted = one;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
}

std::string joined(std::uint32_t begin, std::uint32_t end) {
  std::string all;
  for (; begin < end; ++begin) all += "<" + std::to_string(begin) + ">";
  return all;
}

/// Every collective with a type that is packed and an operation that is not commutative.
void all_collectives(nacre::runtime& rt) {
  const std::string mine = joined(rt.rank().value(), rt.rank().value() + 1), every = joined(0, rt.size());
  for (std::uint32_t round = 0; round < 3; ++round) {
    const rank_id root(round * 5 % rt.size());
    const std::optional<std::string> sum = rt.reduce(mine, std::plus<>{}, root);
    ASSERT_EQ(sum.has_value(), rt.rank() == root);
    ASSERT_EQ(sum.value_or(every), every);
    ASSERT_EQ(rt.all_reduce(mine, std::plus<>{}), every);
    ASSERT_EQ(rt.scan(mine, std::plus<>{}), joined(0, rt.rank().value() + 1));
    ASSERT_EQ(rt.exclusive_scan(mine, std::string("!"), std::plus<>{}), "!" + joined(0, rt.rank().value()));
    const std::vector<std::string> at_root = rt.gather(mine, root), here = rt.all_gather(mine);
    ASSERT_EQ(at_root.size(), rt.rank() == root ? rt.size() : 0);
    ASSERT_EQ(here.size(), rt.size());
    for (std::uint32_t r = 0; r < rt.size(); ++r) ASSERT_EQ(here[r], joined(r, r + 1));
    ASSERT_TRUE(at_root.empty() || at_root == here);
    ASSERT_EQ(rt.broadcast(rt.rank() == root ? every : std::string(), root), every);
  }
}

/// Values of half a megabyte.
void large_collectives(nacre::runtime& rt) {
  const numbers mine(60'000, rt.rank().value());
  const rank_id root(rt.size() - 1);
  const auto all = rt.gather(mine, root);
  for (std::size_t r = 0; r < all.size(); ++r) ASSERT_EQ(all[r], numbers(60'000, r));
  ASSERT_EQ(rt.broadcast(mine, root), numbers(60'000, root.value()));
  const auto add = [](numbers a, const numbers& b) {
    for (std::size_t index = 0; index < a.size(); ++index) a[index] += b[index];
    return a;
  };
  ASSERT_EQ(rt.all_reduce(mine, add), numbers(60'000, rt.size() * (rt.size() - 1) / 2));
}

TEST_P(communication_on, collectives_combine_in_the_order_of_the_ranks) {
  run([](nacre::runtime& rt) {
    all_collectives(rt);
    large_collectives(rt);
    EXPECT_THROW(static_cast<void>(rt.gather(1, rank_id(rt.size()))), nacre::usage_error);
  });
}

TEST(collectives, every_number_of_simulated_ranks_gets_the_same_as_one_loop) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 130}) {
    ASSERT_EQ(nacre::run(settings({"sim", ranks, 1}), all_collectives), 0);
    if (testing::Test::HasFailure()) FAIL() << ranks << " ranks";
  }
}

TEST(collectives_death, ranks_that_call_different_ones_are_told_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [](void (*main)(nacre::runtime&)) { std::exit(nacre::run(settings({"inproc", 3, 1}), main)); };
  EXPECT_EXIT(job([](nacre::runtime& rt) {
                if (rt.rank().value() == 2) rt.barrier();
                static_cast<void>(rt.all_gather(1));
              }),
              testing::ExitedWithCode(1), "not the same on all ranks: .*(barrier.*all_gather|all_gather.*barrier)");
  EXPECT_EXIT(job([](nacre::runtime& rt) {
                static_cast<void>(rt.rank().value() == 1 ? rt.scan(1, std::plus<>{}) : rt.scan(1.5, std::plus<>{}) > 1);
              }),
              testing::ExitedWithCode(1), "values of another type");
  EXPECT_EXIT(job([](nacre::runtime& rt) {
                if (rt.rank().value() != 1) rt.barrier();
              }),
              testing::ExitedWithCode(1), "rank 1 has left its main");
}

std::vector<int> squared(std::vector<int> of) {
  for (int& each : of) each *= each;
  return of;
}
int checked(int index) { return std::vector<int>(10, 5).at(static_cast<std::size_t>(index)); }
void nothing() {}
int throws_an_int(int) { throw 5; }

nacre::task<int> asks(nacre::context& ctx, rank_id where, int index) {
  co_return co_await ctx.call<checked>(where, index);
}

nacre::task<int> asks_many(nacre::context& ctx, rank_id where, int count) {
  std::vector<nacre::future<int>> parts;
  for (int index = 0; index < count; ++index) parts.push_back(ctx.call<checked>(where, index));
  int sum = 0;
  for (const int each : co_await nacre::when_all(std::move(parts))) sum += each;
  co_await nacre::when_all(std::vector<nacre::future<void>>());
  co_return sum;
}

constexpr std::size_t big = 8 << 20;  // a large block of its own

/// Bytes of large blocks that this process has in use; nothing where the pools are off.
std::uint64_t large_bytes_live() { return nacre::process_pool_statistics().large_bytes_live; }
bool counts_blocks() {
  const nacre::buffer probe(big);
  return large_bytes_live() >= big;
}

/// Whether the sender's bytes are those that arrived, and how many copies of them this process has.
struct seen_buffer {
  bool equal = false;
  std::uint64_t address = 0;
  std::uint64_t large_bytes = 0;
};
seen_buffer look_at(int seed, nacre::buffer bytes) {
  const auto words = bytes.as<std::uint64_t>();
  bool equal = bytes.size() == big;
  for (std::size_t i = 0; i < words.size(); i += 509) equal = equal && words[i] == i * static_cast<std::size_t>(seed);
  return {equal, reinterpret_cast<std::uint64_t>(bytes.data()), large_bytes_live()};
}
seen_buffer look_at_span(std::span<const std::uint64_t> words) {
  bool equal = words.size_bytes() == big;
  for (std::size_t i = 0; i < words.size(); i += 509) equal = equal && words[i] == i * 3;
  return {equal, reinterpret_cast<std::uint64_t>(words.data()), large_bytes_live()};
}
nacre::buffer echo(nacre::buffer bytes) { return bytes; }
nacre::task<nacre::buffer> echo_later(nacre::context& ctx, rank_id by, nacre::buffer bytes) {
  co_return co_await ctx.call<echo>(by, std::move(bytes));
}

nacre::buffer filled(std::size_t factor) {
  nacre::buffer made(big);
  const auto words = made.as<std::uint64_t>();
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * factor;
  return made;
}

/// A buffer that travels takes one block in a process that has it, however it got there.
void buffers_travel(nacre::runtime& rt, bool one_process) {
  if (rt.rank().value() == 0) {
    const bool counting = counts_blocks();
    const rank_id there = next_of(rt);
    nacre::buffer mine = filled(5);
    const auto address = reinterpret_cast<std::uint64_t>(mine.data());
    const std::uint64_t block = large_bytes_live();
    const seen_buffer seen = rt.call<look_at>(there, 5, std::move(mine)).get();
    EXPECT_TRUE(mine.empty());  // NOLINT: what is left behind is empty
    EXPECT_TRUE(seen.equal);
    if (one_process) {
      EXPECT_EQ(seen.address, address) << "the bytes were copied on their way to another thread";
    }
    if (counting) {
      EXPECT_EQ(seen.large_bytes, block) << "the receiver has copied the bytes";
    }

    nacre::buffer back = rt.call<echo>(there, filled(7)).get();
    EXPECT_EQ(back.size(), big);
    if (counting) {
      EXPECT_EQ(large_bytes_live(), block) << "the caller has copied the result";
    }
    back = rt.call<echo_later>(there, rt.rank(), std::move(back)).get();
    ASSERT_EQ(back.size(), big);
    EXPECT_EQ(back.as<std::uint64_t>()[1000], 7000U);

    const auto words = back.as<std::uint64_t>();
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 3;
    const seen_buffer viewed = rt.call<look_at_span>(there, words).get();
    EXPECT_TRUE(viewed.equal);
    if (counting) {
      EXPECT_EQ(viewed.large_bytes, one_process ? 2 * block : block) << "the elements were copied";
    }
  }
  rt.wait_quiescence();
}

TEST_P(communication_on, buffers_and_spans_are_not_copied_on_the_way) {
  run([](nacre::runtime& rt) { buffers_travel(rt, true); });
}

TEST_P(communication_on, dropped_futures_harm_nothing) {
  run([](nacre::runtime& rt) {
    for (int round = 0; round < 50; ++round) {
      static_cast<void>(rt.call<squared>(next_of(rt), std::vector<int>(1000, round)));
      static_cast<void>(rt.call<checked>(next_of(rt), 10));  // its error reaches nobody
      static_cast<void>(rt.call<nothing>(next_of(rt)));
      std::vector<nacre::future<int>> parts;
      parts.push_back(rt.call<asks>(next_of(rt), rt.rank(), round % 12));
      parts.push_back(rt.call<checked>(next_of(rt), 1));
      static_cast<void>(nacre::when_all(std::move(parts)));
    }
    EXPECT_EQ(rt.call<squared>(next_of(rt), std::vector<int>{3}).get(), std::vector<int>{9});
  });  // the last round may still be under way when main ends
}

TEST_P(communication_on, the_type_of_an_exception_comes_with_its_text) {
  run([](nacre::runtime& rt) {
    const auto told = [](auto call) -> std::string {
      try {
        static_cast<void>(call.get());
        return "";
      } catch (const nacre::call_error& error) {
        return error.type() + ": " + error.what();
      }
    };
    const std::string plain = told(rt.call<checked>(next_of(rt), 10));
    EXPECT_EQ(plain.find("std::out_of_range: the handler "), 0U) << plain;
    EXPECT_NE(plain.find("checked"), std::string::npos) << plain;
    const std::string passed_on = told(rt.call<asks>(next_of(rt), rt.rank(), 10));
    EXPECT_EQ(passed_on.find("std::out_of_range: the handler "), 0U) << passed_on;
    EXPECT_NE(passed_on.find("asks"), std::string::npos) << passed_on;
    EXPECT_EQ(told(rt.call<throws_an_int>(next_of(rt), 1)).find(": the handler "), 0U);
  });
}

TEST_P(communication_on, many_futures_are_awaited_as_one) {
  run([](nacre::runtime& rt) {
    EXPECT_EQ(rt.call<asks_many>(next_of(rt), rt.rank(), 10).get(), 50);
    EXPECT_THROW(static_cast<void>(rt.call<asks_many>(next_of(rt), rt.rank(), 11).get()), nacre::call_error);
    std::vector<nacre::future<std::vector<int>>> parts;
    for (int index = 0; index < 20; ++index) parts.push_back(rt.call<squared>(next_of(rt), std::vector<int>{index}));
    const auto all = nacre::when_all(std::move(parts)).get();
    for (int index = 0; index < 20; ++index)
      EXPECT_EQ(all[static_cast<std::size_t>(index)], std::vector<int>{index * index});
    std::vector<nacre::future<void>> silent;
    for (int index = 0; index < 5; ++index) silent.push_back(rt.call<nothing>(next_of(rt)));
    nacre::when_all(std::move(silent)).get();
    EXPECT_TRUE(nacre::when_all(std::vector<nacre::future<int>>()).get().empty());
    EXPECT_THROW(static_cast<void>(nacre::when_all(std::vector<nacre::future<int>>(1))), nacre::usage_error);
  });
}

INSTANTIATE_TEST_SUITE_P(every_kind_of_rank, communication_on,
                         testing::Values(setting{"inproc", 1, 2}, setting{"inproc", 3, 2}, setting{"sim", 1, 1},
                                         setting{"sim", 4, 1}, setting{"sim", 3, 3}),
                         [](const auto& given) {
                           return std::string(given.param.transport) + "_" + std::to_string(given.param.ranks) +
                                  "_ranks_" + std::to_string(given.param.workers) + "_workers";
                         });

/// Runs the calling test again as `ranks` processes; false in those.
bool started_as_processes(int ranks) {
  if (nacre::transport::started_by_launcher()) return false;
  const auto* self = testing::UnitTest::GetInstance()->current_test_info();
  nacre::tests::ignore_foreign_leaks(self->name());
  const std::string command = NACRE_BIN_DIR "/nacre run -n " + std::to_string(ranks) + " " +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              " --gtest_filter=" + self->test_suite_name() + "." + self->name() + " >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return true;
}

class between_processes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(over, between_processes, testing::ValuesIn(nacre::tests::and_ucx(NACRE_BIN_DIR, {"tcp"})),
                         [](const auto& given) { return given.param; });

TEST_P(between_processes, random_puts_and_gets_agree_with_a_model) {
  if (started_as_processes(3)) return;
  ASSERT_EQ(nacre::run(settings({GetParam().c_str(), 3, 1}),
                       [](nacre::runtime& rt) {
                         for (const std::uint64_t seed : {1, 2}) random_transfers(rt, seed, seed == 1 ? 900 : 60'000);
                       }),
            0);
}

TEST(messages_between_processes, buffers_and_spans_are_not_copied_on_the_way) {
  if (started_as_processes(2)) return;
  ASSERT_EQ(nacre::run(settings({"shm", 2, 1}), [](nacre::runtime& rt) { buffers_travel(rt, false); }), 0);
}

/// From now on the kernel refuses this process what it names, as in a container with a strict filter.
bool forbid(int system_call) {
  std::array<sock_filter, 4> program{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(system_call), 0, 1),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(messages_between_processes, travel_in_pieces_where_the_kernel_forbids_to_read_a_peer) {
  if (started_as_processes(2)) return;
  ASSERT_TRUE(forbid(SYS_process_vm_readv));
  char one = 0, other = 0;
  iovec to{&one, 1}, from{&other, 1};
  ASSERT_EQ(process_vm_readv(getpid(), &to, 1, &from, 1, 0), -1) << "the filter does nothing";
  ASSERT_EQ(nacre::run(settings({"shm", 2, 1}), [](nacre::runtime& rt) { buffers_travel(rt, false); }), 0);
}

TEST(messages_over_sockets, carry_buffers_and_spans_without_a_copy_at_either_end) {
  if (started_as_processes(2)) return;
  ASSERT_EQ(nacre::run(settings({"tcp", 2, 1}), [](nacre::runtime& rt) { buffers_travel(rt, false); }), 0);
}

TEST_P(between_processes, bad_accesses_fail_at_their_caller_and_write_nothing) {
  if (started_as_processes(2)) return;
  ASSERT_EQ(nacre::run(settings({GetParam().c_str(), 2, 1}), bad_accesses), 0);
}

TEST_P(between_processes, collectives_agree_with_one_loop) {
  if (started_as_processes(5)) return;
  ASSERT_EQ(nacre::run(settings({GetParam().c_str(), 5, 1}),
                       [](nacre::runtime& rt) {
                         all_collectives(rt);
                         large_collectives(rt);
                       }),
            0);
}

TEST_P(between_processes, a_withdrawn_memory_is_out_of_reach_at_once) {
  if (started_as_processes(2)) return;
  ASSERT_EQ(
      nacre::run(settings({GetParam().c_str(), 2, 1}), [](nacre::runtime& rt) { withdraw_under_fire(rt, 80'000); }), 0);
}

}  // namespace
