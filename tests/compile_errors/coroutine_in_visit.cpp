// SPDX-License-Identifier: Apache-2.0
// A function of visit is a coroutine, which would never run.
//
// error: a function of visit must not wait, so it is no coroutine: send a handler from it
// lines at most: 40
#include <nacre/nacre.hpp>

#include <nacre/containers/map.hpp>

void count(nacre::map<int, int>& numbers) {
#ifdef FIXED
  numbers.visit(1, [](nacre::context&, const int&, int& value) { ++value; });
#else
  numbers.visit(1, [](nacre::context& ctx, const int&, int& value) -> nacre::task<> {
    co_await ctx.sleep(0.1);
    ++value;
  });
#endif
}
