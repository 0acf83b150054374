// SPDX-License-Identifier: Apache-2.0
// Coroutines whose frames cannot keep what is aligned to more than 16 bytes.
//
// error: a coroutine, as a call to all objects of a group is one, keeps its arguments in memory that is aligned to 16
// error: a coroutine keeps its result in memory that is aligned to 16 bytes, and this one needs more
// error: a coroutine keeps what it awaits in memory that is aligned to 16 bytes, and this result needs more
#include <nacre/nacre.hpp>

#include <vector>

struct alignas(64) wide {
  double values[8]{};
};
#ifdef FIXED
using kept = std::vector<wide>;
#else
using kept = wide;
#endif

nacre::task<int> take(nacre::context&, kept) { co_return 1; }
nacre::task<kept> give(nacre::context&) { co_return kept{}; }
kept plain() { return kept{}; }
nacre::task<int> look(nacre::context& ctx) {
  const kept one = co_await ctx.call<plain>(nacre::rank_id{0});
  co_return static_cast<int>(sizeof one);
}

void send(nacre::runtime& rt) {
  rt.send<take>(nacre::rank_id{0}, kept{});
  rt.send<give>(nacre::rank_id{0});
  rt.send<look>(nacre::rank_id{0});
}
