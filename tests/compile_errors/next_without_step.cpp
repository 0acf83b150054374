// SPDX-License-Identifier: Apache-2.0
// A coroutine that waits for a message with a step, and does not say for which step.
//
// error: the first parameter of F is an integer, which says the step: write ctx.next<F>(step)
// lines at most: 12
#include <nacre/nacre.hpp>

struct cell {
  nacre::awaited<double> halo(int step, double value) { return last = value + step; }
  nacre::task<void> run(nacre::context& ctx) {
#ifdef FIXED
    co_await ctx.next<&cell::halo>(0);
#else
    co_await ctx.next<&cell::halo>();
#endif
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(last);
  }
  double last = 0;
};

void start(nacre::runtime& rt, nacre::mobile_ptr<cell> target) { rt.send<&cell::run>(target); }
