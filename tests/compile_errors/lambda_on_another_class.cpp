// SPDX-License-Identifier: Apache-2.0
// A lambda that takes an object of another class.
//
// error: the lambda takes an object of another class
// lines at most: 40
#include <nacre/nacre.hpp>

struct cell {
  int n = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(n);
  }
};
struct part : cell {};

#ifdef FIXED
using taken = cell;
#else
using taken = part;
#endif
void send(nacre::runtime& rt, nacre::mobile_ptr<cell> p) {
  rt.send(p, [](taken& c) { ++c.n; });
}
