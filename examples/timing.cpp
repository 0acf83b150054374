// SPDX-License-Identifier: Apache-2.0
// The example of docs/time.md: a client that asks several servers, with sleeps, time limits and retries.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 3: --nacre.workers=1
// prints: the first answer came from server 2
// prints: server 1 did not answer in time
// prints: together they say 1 and 2
// prints: a tick
// prints: the search has stopped
#include <nacre/nacre.hpp>

#include <cstdio>
#include <utility>

nacre::task<int> answer(nacre::context& ctx, double next) {
  co_await ctx.sleep(next);  // no worker waits
  co_return static_cast<int>(ctx.rank().value());
}

nacre::task<int> first_answer(nacre::context& ctx) {
  auto slow = ctx.call<answer>(nacre::rank_id{1}, 0.2);
  auto fast = ctx.call<answer>(nacre::rank_id{2}, 0.01);
  const std::size_t index = co_await nacre::when_any(slow, fast, ctx.sleep(60));
  if (index == 0) co_return co_await std::move(slow);
  if (index == 1) co_return co_await std::move(fast);
  co_return 0;  // neither within a minute
}

nacre::task<int> impatient(nacre::context& ctx) {
  try {
    co_return co_await ctx.call<answer>(nacre::with{.deadline = 0.01}, nacre::rank_id{1}, 0.2);
  } catch (const nacre::timeout_error&) {
    co_return 0;
  }
}

/// Tries one place after the other, as long as somebody waits for what it finds.
nacre::task<int> search(nacre::context& ctx) {
  for (int place = 0; place < 1'000'000; ++place) {
    if (ctx.cancelled()) {
      std::puts("the search has stopped");
      co_return -1;  // nobody gets it
    }
    co_await ctx.sleep(0.001);  // looks there
  }
  co_return 0;
}

void tick() { std::puts("a tick"); }

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank() != nacre::rank_id{0}) return;
    std::printf("the first answer came from server %d\n", rt.call<first_answer>(rt.rank()).get());
    if (rt.call<impatient>(rt.rank()).get() == 0) std::puts("server 1 did not answer in time");

    auto one = rt.call<answer>(nacre::rank_id{1}, 0.001);
    auto two = rt.call<answer>(nacre::rank_id{2}, 0.002);
    while (!one.wait_for(0.1)) std::puts("still waiting");  // main runs other work meanwhile
    auto [x, y] = nacre::when_all(one, two).get();
    std::printf("together they say %d and %d\n", x, y);

    rt.after<tick>(0.005);                       // on this rank, later
    auto never = rt.after<tick>(3600);           // a handle
    if (!never.cancel()) std::puts("too late");  // taken back: the job does not wait an hour

    auto future = rt.call<search>(nacre::rank_id{1});
    if (!future.wait_for(0.02)) future.cancel();  // the search learns of it, wherever it runs
  });
}
