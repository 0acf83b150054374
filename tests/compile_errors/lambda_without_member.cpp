// SPDX-License-Identifier: Apache-2.0
// A lambda on a group that does not take the object of the rank.
//
// error: a lambda on an object takes the object first: write [](cell& c, nacre::context& ctx, int n)
// lines at most: 40
#include <nacre/nacre.hpp>

struct table {
  void add(int) {}
};

void send(nacre::runtime& rt, nacre::group_ptr<table> g) {
#ifdef FIXED
  rt.send(
      g, [](table& t, int n) { t.add(n); }, 1);
#else
  rt.send(
      g, [](int) {}, 1);
#endif
}
