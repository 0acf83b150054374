// SPDX-License-Identifier: Apache-2.0
// A named function behind the target, where it has no name that travels.
//
// error: write send<f>(target, 1) instead of send(target, f, 1)
// lines at most: 16
#include <nacre/nacre.hpp>

void look(int) {}

void send(nacre::runtime& rt) {
#ifdef FIXED
  rt.send<look>(nacre::rank_id(0), 1);
#else
  rt.send(nacre::rank_id(0), look, 1);
#endif
}
