// SPDX-License-Identifier: Apache-2.0
// A request server: coroutines answer requests by asking the shards of a store, with many requests under way.
// run: --nacre.workers=2
// run: --nacre.ranks=3 --nacre.workers=1
// run: --nacre.transport=sim --nacre.ranks=16
// nacre run -n 2: --nacre.workers=1
// nacre run -n 2 --transport tcp: --nacre.workers=1
// prints: 2000 transfers, the accounts are those of the loop
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int accounts = 100, shards = 8, transfers = 2000;
constexpr std::size_t under_way_max = 64;
constexpr long first_balance = 1000;

/// Some of the accounts. A balancer may move it while requests wait for it.
struct shard {
  std::map<int, long> balances;

  void open(int account, long money) { balances[account] = money; }
  /// Takes money out, if so much is there. Throws: the caller's future gets the error.
  void withdraw(int account, long money) {
    long& present_count = balances.at(account);
    if (present_count < money)
      throw std::runtime_error("account " + std::to_string(account) + " has only " + std::to_string(present_count));
    present_count -= money;
  }
  void deposit(int account, long money) { balances.at(account) += money; }
  long balance(int account) const { return balances.at(account); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(balances);
  }
};

using store = nacre::array_ptr<shard>;

/// Answers one request, on any rank: waits for two shards, without a thread. False: refused, nothing has changed.
nacre::task<bool> transfer(nacre::context& ctx, store in, int source, int target, long money) {
  try {
    co_await ctx.call<&shard::withdraw>(in[{source % shards}], source, money);
  } catch (const nacre::call_error&) {
    co_return false;
  }
  co_await ctx.call<&shard::deposit>(in[{target % shards}], target, money);
  co_return true;
}

/// Request `number`. All from one account are alike, so that the order in which they are answered makes no difference.
struct request {
  explicit request(int number)
      : source(number % (accounts / 2)), target(source + accounts / 2), money(10 + source % 7 * 10) {}
  int source, target;
  long money;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const store all = rt.create_array<shard>(nacre::extents{shards});
    if (rt.rank().value() != 0) return;       // its workers still serve
    std::vector<nacre::future<void>> opened;  // before requests of other ranks can get there
    for (int each = 0; each < accounts; ++each) {
      opened.push_back(rt.call<&shard::open>(all[{each % shards}], each, first_balance));
    }
    nacre::when_all(std::move(opened)).get();

    std::vector<long> model(accounts, first_balance);
    std::deque<nacre::future<bool>> answers;
    int refused = 0, refused_by_the_loop = 0;
    const auto take_answer = [&] {
      refused += answers.front().get() ? 0 : 1;
      answers.pop_front();
    };
    for (int number = 0; number < transfers; ++number) {
      const request next(number);
      const nacre::rank_id server(static_cast<std::uint32_t>(next.source) % rt.size());  // one for each account
      answers.push_back(rt.call<transfer>(server, all, next.source, next.target, next.money));
      if (answers.size() == under_way_max) take_answer();
      if (model[next.source] >= next.money) {
        model[next.source] -= next.money, model[next.target] += next.money;
      } else {
        ++refused_by_the_loop;
      }
    }
    while (!answers.empty()) take_answer();
    bool right = refused == refused_by_the_loop && refused > 0;
    for (int each = 0; each < accounts; ++each) {
      right = right && rt.call<&shard::balance>(all[{each % shards}], each).get() == model[each];
    }
    std::printf("%d transfers, %s\n", transfers,
                right ? "the accounts are those of the loop" : "the accounts are wrong");
  });
}
