// SPDX-License-Identifier: Apache-2.0
// A class that is derived from std::queue, and would lose its own members.
//
// error: nacre: this type cannot be packed
// lines at most: 60
#include <nacre/nacre.hpp>

#include <queue>

struct jobs : std::queue<int> {
  int running = 0;
#ifdef FIXED
  template <class Archive>
  void serialize(Archive& ar) {
    ar(static_cast<std::queue<int>&>(*this), running);
  }
#endif
};

void take(jobs) {}
void send(nacre::runtime& rt) { rt.send<take>(nacre::rank_id{0}, jobs{}); }
