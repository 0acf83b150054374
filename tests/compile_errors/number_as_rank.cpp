// SPDX-License-Identifier: Apache-2.0
// A number where a rank is meant.
//
// error: write send<f>(nacre::rank_id{1}, ...)
// error: write call<f>(nacre::rank_id{1}, ...)
// lines at most: 24
#include <nacre/nacre.hpp>

int add(int a, int b) { return a + b; }

#ifdef FIXED
constexpr nacre::rank_id second{1};
#else
constexpr int second = 1;
#endif

int ask(nacre::runtime& rt) {
  rt.send<add>(second, 1, 2);
  return rt.call<add>(second, 1, 2).get();
}
