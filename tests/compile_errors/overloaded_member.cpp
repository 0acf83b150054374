// SPDX-License-Identifier: Apache-2.0
// A member function that has several versions.
//
// error: several_functions_have_this_name_so_use_a_lambda_that_calls_one
#include <nacre/nacre.hpp>

struct cell {
  int size = 0;
  void grow(int n) { size += n; }
  void grow(double factor) { size = static_cast<int>(size * factor); }
};

void send(nacre::runtime& rt, nacre::mobile_ptr<cell> p) {
#ifdef FIXED
  rt.send<static_cast<void (cell::*)(int)>(&cell::grow)>(p, 1);
  rt.send(
      p, [](cell& one, double factor) { one.grow(factor); }, 1.5);
#else
  rt.send<&cell::grow>(p, 1);
#endif
}
