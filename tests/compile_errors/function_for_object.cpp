// SPDX-License-Identifier: Apache-2.0
// A function that is sent to an object as if it were a member.
//
// error: a handler of an object is a member function
// lines at most: 40
#include <nacre/nacre.hpp>

struct cell {
  int size = 0;
  void grow() { ++size; }
};

#ifdef FIXED
constexpr auto grow = &cell::grow;
#else
void grow(cell& one) { one.grow(); }
#endif

void send(nacre::runtime& rt, nacre::mobile_ptr<cell> p) { rt.send<grow>(p); }
