// SPDX-License-Identifier: Apache-2.0
// A function that is no member of the group's class.
//
// error: F is no member function of the group's class
// lines at most: 40
#include <nacre/nacre.hpp>

struct table {
  void add(int) {}
};
void add(int) {}

void send(nacre::runtime& rt, nacre::group_ptr<table> g) {
#ifdef FIXED
  rt.send<&table::add>(g, 1);
#else
  rt.send<add>(g, 1);
#endif
}
