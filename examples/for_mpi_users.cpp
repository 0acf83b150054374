// SPDX-License-Identifier: Apache-2.0
// Every call that docs/for_mpi_users.md names.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 2: --nacre.workers=1
// prints: 5 and 7, all right
#include <nacre/nacre.hpp>

#include <cstdio>
#include <functional>
#include <span>
#include <utility>
#include <vector>

using T = int;

T handler(nacre::context&, T value) { return value + 1; }

nacre::task<T> two_results(nacre::context& ctx, nacre::rank_id rank) {
  nacre::future<T> f = ctx.call<handler>(rank, 1);
  const T first = co_await f;
  const auto [second, third] = co_await nacre::when_all(ctx.call<handler>(rank, 1), ctx.call<handler>(rank, first));
  co_return second + third;
}

struct ports {
  nacre::awaited<double> halo(int /*step*/, double value) { return value; }
};

bool receive_in_main(nacre::runtime& rt) {
  const int step = 1;
  const auto group = rt.create_group<ports>();
  auto received = rt.next<&ports::halo>(group, step);
  rt.send<&ports::halo>(group[nacre::rank_id((rt.rank().value() + 1) % rt.size())], step, 0.5);
  return received.get() == 0.5;
}

bool use_collectives(nacre::runtime& rt) {
  const T value = 2, init = 1, size = static_cast<T>(rt.size());
  const auto op = std::plus<>{};
  const std::vector<T> values = rt.all_gather(value);
  const T previous = rt.exclusive_scan(value, init, op);
  rt.call<handler>(nacre::to_all, value).get();
  const T sum = rt.reduce<handler>(nacre::to_all, op, value).get();
  return values == std::vector<T>(rt.size(), value) && sum == 3 * size &&
         previous == init + value * static_cast<T>(rt.rank().value());
}

bool use_memory(nacre::runtime& rt) {
  std::vector<double> values(4, rt.rank().value());
  const std::span<double> span(values);
  const auto mine = rt.expose(span);
  const auto theirs = rt.broadcast(mine, nacre::rank_id{rt.size() - 1});
  std::vector<double> copy(4);
  rt.get(theirs, 0, std::span<double>(copy)).get();
  rt.barrier();
  rt.withdraw(mine);
  return copy.back() == rt.size() - 1;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::rank_id rank{rt.size() - 1};
    const double begin = rt.now();
    rt.send<handler>(rank, 3);
    nacre::future<T> f = rt.call<handler>(rank, 4);
    const T five = f.get(), all = rt.call<two_results>(rt.rank(), rank).get();
    rt.wait_quiescence();
    bool right = use_memory(rt) && receive_in_main(rt) && use_collectives(rt) && rt.now() >= begin;
    right = rt.all_reduce(right && five == 5, std::logical_and<>{});
    rt.barrier();
    if (rt.rank().value() == 0) std::printf("%d and %d, %s\n", five, all + 2, right ? "all right" : "WRONG");
  });
}
