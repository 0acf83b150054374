// SPDX-License-Identifier: Apache-2.0
// A reduction over one object.
//
// error: of another target, call gives the one result
// lines at most: 32
#include <functional>

#include <nacre/nacre.hpp>

struct cell {
  int size() const { return 1; }
  template <class Archive>
  void serialize(Archive&) {}
};

#ifdef FIXED
int ask(nacre::runtime& rt, const nacre::array_ptr<cell>& target) {
#else
int ask(nacre::runtime& rt, nacre::mobile_ptr<cell> target) {
#endif
  return rt.reduce<&cell::size>(target, std::plus<>{}).get() +
         rt.reduce(
               target, [](const cell& c) { return c.size(); }, std::plus<>{})
             .get();
}
