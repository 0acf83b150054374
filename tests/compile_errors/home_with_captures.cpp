// SPDX-License-Identifier: Apache-2.0
// The function that chooses the homes of keys has a capture.
//
// error: nacre: the home of keyed_by has no captures or members: every rank calls its own copy
// lines at most: 40
#include <nacre/nacre.hpp>

#include <cstdint>

struct guest {
  int unused = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unused);
  }
};

void make(nacre::runtime& rt, std::uint32_t shift) {
#ifdef FIXED
  static_cast<void>(shift);
  static_cast<void>(rt.create_array<guest>(
      nacre::keyed_by<std::uint32_t>{.home = [](std::uint32_t key, std::uint32_t ranks) { return key % ranks; }}));
#else
  static_cast<void>(rt.create_array<guest>(nacre::keyed_by<std::uint32_t>{
      .home = [shift](std::uint32_t key, std::uint32_t ranks) { return (key + shift) % ranks; }}));
#endif
}
