// SPDX-License-Identifier: Apache-2.0
// An object with a call operator, named as if it were a function.
//
// error: a lambda that is a handler, or another object with operator(), stands behind the target
// lines at most: 24
#include <nacre/nacre.hpp>

struct add {
  int operator()(int number) const { return number + 1; }
};

int ask(nacre::runtime& rt) {
#ifdef FIXED
  return rt.call(nacre::rank_id{0}, add{}, 1).get();
#else
  rt.send<add{}>(nacre::rank_id{0}, 1);
  return 0;
#endif
}
