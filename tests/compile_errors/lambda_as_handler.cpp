// SPDX-License-Identifier: Apache-2.0
// A handler without a name by which another process finds it.
//
// error: a handler is a named function, as in send<f>(rank, 1) with void f(int), or a member function
// error: a lambda is none
// lines at most: 60
#include <nacre/nacre.hpp>

#ifdef FIXED
void look(int) {}
#else
constexpr auto look = [](int) {};
#endif

void send(nacre::runtime& rt) { rt.send<look>(nacre::rank_id(0), 1); }
