// SPDX-License-Identifier: Apache-2.0
// A lambda where a named function stands.
//
// error: a lambda that is a handler, or another object with operator(), stands behind the target: write
// lines at most: 60
#include <nacre/nacre.hpp>

constexpr auto look = [](int) {};

#ifdef FIXED
void send(nacre::runtime& rt) { rt.send(nacre::rank_id(0), look, 1); }
#else
void send(nacre::runtime& rt) { rt.send<look>(nacre::rank_id(0), 1); }
#endif
