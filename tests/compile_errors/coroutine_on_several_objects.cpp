// SPDX-License-Identifier: Apache-2.0
// A function of colocate that would keep all its objects while it waits.
//
// error: a function of colocate is no coroutine
#include <nacre/nacre.hpp>

struct cell {
  int size = 0;
};

#ifdef FIXED
void merge(cell& a, cell& b) { a.size += b.size; }
#else
nacre::task<void> merge(cell& a, cell& b) {
  a.size += b.size;
  co_return;
}
#endif

void meet(nacre::runtime& rt, nacre::mobile_ptr<cell> p, nacre::mobile_ptr<cell> q) { rt.colocate<merge>(p, q); }
