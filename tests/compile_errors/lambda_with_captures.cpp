// SPDX-License-Identifier: Apache-2.0
// A lambda that would leave its captures behind.
//
// error: a lambda with captures cannot run on another rank: write [] and hand the values over as arguments
// lines at most: 24
#include <nacre/nacre.hpp>

int ask(nacre::runtime& rt, nacre::rank_id target, int n) {
#ifdef FIXED
  return rt
      .call(
          target, [](int m) { return m + 1; }, n)
      .get();
#else
  rt.send(target, [n] { static_cast<void>(n); });
  return 0;
#endif
}
