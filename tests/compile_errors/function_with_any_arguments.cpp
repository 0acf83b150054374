// SPDX-License-Identifier: Apache-2.0
// A function with ... among its parameters.
//
// error: a function with ... among its parameters is no handler, as a message holds arguments of known types
// lines at most: 24
#include <nacre/nacre.hpp>

int sum(int count, ...) { return count; }

int ask(nacre::runtime& rt) {
#ifdef FIXED
  return rt
      .call(
          nacre::rank_id{0}, [](int first) { return sum(1, first); }, 5)
      .get();
#else
  rt.send<sum>(nacre::rank_id{0}, 1);
  return 0;
#endif
}
