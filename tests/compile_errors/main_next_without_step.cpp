// SPDX-License-Identifier: Apache-2.0
// Main waits for a message with a step, and does not say for which step.
//
// error: the first parameter of F is an integer, which says the step: write rt.next<F>(group, step)
// lines at most: 12
#include <nacre/nacre.hpp>

struct ports {
  nacre::awaited<double> halo(int step, double value) { return value + step; }
};

double wait(nacre::runtime& rt, nacre::group_ptr<ports> group) {
#ifdef FIXED
  return rt.next<&ports::halo>(group, 0).get();
#else
  return rt.next<&ports::halo>(group).get();
#endif
}
