// SPDX-License-Identifier: Apache-2.0
// A lambda with state, of which there would be one on every rank.
//
// error: a lambda that is a handler has no state that it could change: leave out mutable
// lines at most: 16
#include <nacre/nacre.hpp>

void send(nacre::runtime& rt) {
#ifdef FIXED
  rt.send(nacre::rank_id(0), [] {});
#else
  rt.send(nacre::rank_id(0), []() mutable {});
#endif
}
