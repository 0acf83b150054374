// SPDX-License-Identifier: Apache-2.0
// A member function that is sent to a rank.
//
// error: a member function runs on an object
// lines at most: 24
#include <nacre/nacre.hpp>

struct cell {
  int size = 0;
  void grow() { ++size; }
};

#ifdef FIXED
void send(nacre::runtime& rt, nacre::group_ptr<cell> target) {
#else
void send(nacre::runtime& rt, nacre::rank_id target) {
#endif
  rt.send<&cell::grow>(target);
}
