// SPDX-License-Identifier: Apache-2.0
// A number where a rank is meant, before a lambda.
//
// error: write send(nacre::rank_id{1}, ...)
// error: write call(nacre::rank_id{1}, ...)
// lines at most: 24
#include <nacre/nacre.hpp>

#ifdef FIXED
constexpr nacre::rank_id second{1};
#else
constexpr int second = 1;
#endif

int ask(nacre::runtime& rt) {
  rt.send(
      second, [](int) {}, 1);
  return rt
      .call(
          second, [](int a) { return a; }, 1)
      .get();
}
