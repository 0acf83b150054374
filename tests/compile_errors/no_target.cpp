// SPDX-License-Identifier: Apache-2.0
// Messages to what is no target.
//
// error: a message goes to a rank_id, to to_all, a mobile_ptr
// lines at most: 48
#include <string>

#include <nacre/nacre.hpp>

int add(int a, int b) { return a + b; }

#ifdef FIXED
const auto everyone = nacre::to_all;
#else
const std::string everyone = "all";
#endif

void send(nacre::runtime& rt) {
  rt.send<add>(everyone, 1, 2);
  rt.call<add>(everyone, 1, 2).get();
  rt.send(
      everyone, [](int) {}, 1);
}
