// SPDX-License-Identifier: Apache-2.0
// A function of colocate that would change an argument of its sender.
//
// error: a handler gets copies of what was sent: write T or const T& instead of T&
// lines at most: 40
#include <nacre/nacre.hpp>

struct cell {
  int size = 0;
};

#ifdef FIXED
void merge(cell& a, cell& b, int by) { a.size += b.size + by; }
#else
void merge(cell& a, cell& b, int& amount) { a.size += b.size + amount; }
#endif

void meet(nacre::runtime& rt, nacre::mobile_ptr<cell> p, nacre::mobile_ptr<cell> q) { rt.colocate<merge>(p, q, 1); }
