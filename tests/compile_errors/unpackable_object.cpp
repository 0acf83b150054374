// SPDX-License-Identifier: Apache-2.0
// A mobile object whose class says nothing of how it is packed.
//
// error: nacre: the class T of a mobile object cannot be packed, so it could not move
// error: write `template <class Archive> void serialize(Archive& ar) { ar(every, member); }` in it
// error: T = forest
#include <nacre/nacre.hpp>

#include <string>

struct forest {
  std::string name;
#ifdef FIXED
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name);
  }
#endif
};

void plant(nacre::runtime& rt) { rt.create<forest>(); }
