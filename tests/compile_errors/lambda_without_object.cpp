// SPDX-License-Identifier: Apache-2.0
// A lambda on an object that does not take the object first.
//
// error: a lambda on an object takes the object first: write [](cell& c, nacre::context& ctx, int n)
// lines at most: 32
#include <nacre/nacre.hpp>

struct cell {
  int n = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(n);
  }
};

void send(nacre::runtime& rt, nacre::mobile_ptr<cell> p) {
#ifdef FIXED
  rt.send(
      p, [](cell& c, nacre::context&, int n) { c.n += n; }, 1);
#else
  rt.send(
      p, [](nacre::context&, cell& c, int n) { c.n += n; }, 1);
#endif
}
