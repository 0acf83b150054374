// SPDX-License-Identifier: Apache-2.0
// A lambda whose parameters have no types that another rank could read.
//
// error: a lambda that is a handler names the types of its parameters: write int or std::string instead of auto
// lines at most: 16
#include <nacre/nacre.hpp>

#ifdef FIXED
using number = int;
void send(nacre::runtime& rt) {
  rt.send(
      nacre::rank_id(0), [](number) {}, 1);
}
#else
void send(nacre::runtime& rt) {
  rt.send(
      nacre::rank_id(0), [](auto) {}, 1);
}
#endif
