// SPDX-License-Identifier: Apache-2.0
// Coroutines that call objects, thousands of them at a time, as a user writes them.
#include <nacre/nacre.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace {

class store {
 public:
  void put(long key, long value) { values_[key] = value; }
  [[nodiscard]] long get(long key) const { return values_.at(key); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values_);
  }

 private:
  std::map<long, long> values_;
};
using stores = nacre::array_ptr<store>;

nacre::mobile_ptr<store> owner_of(const stores& all, long key) {
  return all[static_cast<std::int64_t>(static_cast<unsigned long>(key) % all.shape().count())];
}

long next_of(long key, long keys) { return (key * 7 + 1) % keys; }

/// Follows a chain of keys, one call after the other.
nacre::task<long> follow(nacre::context& ctx, stores all, long key, int steps) {
  for (int step = 0; step < steps; ++step) key = co_await ctx.call<&store::get>(owner_of(all, key), key);
  co_return key;
}

/// Asks for so many keys at a time.
nacre::task<long> sum(nacre::context& ctx, stores all, long first, long width) {
  std::vector<nacre::future<long>> calls;
  for (long key = first; key < first + width; ++key) calls.push_back(ctx.call<&store::get>(owner_of(all, key), key));
  long total = 0;
  for (const long each : co_await nacre::when_all(std::move(calls))) total += each;
  co_return total;
}

}  // namespace

int main(int argc, char** argv) {
  bool right = true;
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const long keys = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 80'000;
    const auto all = rt.create_array<store>(nacre::extents{4 * rt.size()});
    if (rt.rank().value() == 0) {
      for (long key = 0; key < keys; ++key) rt.send<&store::put>(owner_of(all, key), key, next_of(key, keys));
    }
    rt.wait_quiescence();
    if (rt.rank().value() != 0) return;
    const auto rank_of = [&](long number) { return nacre::rank_id(static_cast<unsigned>(number) % rt.size()); };
    const double begin = rt.now();
    std::vector<nacre::future<long>> chains, sums;
    for (long number = 0; number < keys / 4; ++number)
      chains.push_back(rt.call<follow>(rank_of(number), all, number, 10));
    for (long first = 0; first + 100 <= keys; first += 100)
      sums.push_back(rt.call<sum>(rank_of(first / 100), all, first, 100L));
    for (long number = 0; number < keys / 4; ++number) {
      long key = number;
      for (int step = 0; step < 10; ++step) key = next_of(key, keys);
      right &= chains[static_cast<std::size_t>(number)].get() == key;
    }
    long total = 0, expected = 0;
    for (auto& each : sums) total += each.get();
    for (long key = 0; key < keys / 100 * 100; ++key) expected += next_of(key, keys);
    right &= total == expected;
    const double calls = static_cast<double>(keys / 4 * 10 + keys / 100 * 100);
    std::printf("calls of coroutines\t%.4g\tM/s\n", 1e-6 * calls / (rt.now() - begin));
    if (!right) std::fputs("chains: a value is wrong\n", stderr);
  });
  return code != 0 ? code : right ? 0 : 3;
}
