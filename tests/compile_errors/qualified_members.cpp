// SPDX-License-Identifier: Apache-2.0
// Member functions with qualifiers, or with parameters, that no message can meet.
//
// error: a member function that is a handler is const or not, without volatile, & and &&, and without ... among
// error: signature<void (cell::*)() volatile>
// error: signature<void (cell::*)() &>
// error: signature<void (cell::*)() &&>
// error: signature<void (cell::*)(int, ...)>
#include <nacre/nacre.hpp>

struct cell {
  int size = 0;
#ifdef FIXED
  void watched() {}
  void named() const noexcept {}
  void expiring() noexcept {}
  void some(int) {}
#else
  void watched() volatile {}
  void named() & {}
  void expiring() && {}
  void some(int, ...) {}
#endif
};

void send(nacre::runtime& rt, nacre::mobile_ptr<cell> p) {
  rt.send<&cell::watched>(p);
  rt.send<&cell::named>(p);
  rt.send<&cell::expiring>(p);
  rt.send<&cell::some>(p, 1);
}
