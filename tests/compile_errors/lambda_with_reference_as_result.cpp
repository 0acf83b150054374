// SPDX-License-Identifier: Apache-2.0
// A reference into the memory of another rank.
//
// error: let the handler return T instead of T&
// lines at most: 24
#include <nacre/nacre.hpp>

int known = 3;

int ask(nacre::runtime& rt) {
#ifdef FIXED
  return rt.call(nacre::rank_id(0), []() -> int { return known; }).get();
#else
  return rt.call(nacre::rank_id(0), []() -> int& { return known; }).get();
#endif
}
