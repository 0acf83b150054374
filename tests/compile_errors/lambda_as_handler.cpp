// SPDX-License-Identifier: Apache-2.0
// A lambda where a named function stands.
//
// error: a handler is a named function, as in send<f>(rank, 1) with void f(int), a member function
// error: or a lambda behind the target, as in send(rank, [](int) {}, 1)
// lines at most: 60
#include <nacre/nacre.hpp>

constexpr auto look = [](int) {};

#ifdef FIXED
void send(nacre::runtime& rt) { rt.send(nacre::rank_id(0), look, 1); }
#else
void send(nacre::runtime& rt) { rt.send<look>(nacre::rank_id(0), 1); }
#endif
