// SPDX-License-Identifier: Apache-2.0
// A message without a handler.
//
// error: behind the target stands a lambda, as in send(target, [](int) {}, 1)
// lines at most: 16
#include <nacre/nacre.hpp>

void send(nacre::runtime& rt) {
#ifdef FIXED
  rt.send(
      nacre::rank_id(0), [](int) {}, 1);
#else
  rt.send(nacre::rank_id(0), 1);
#endif
}
