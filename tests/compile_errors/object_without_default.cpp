// SPDX-License-Identifier: Apache-2.0
// A mobile object that cannot be made empty.
//
// error: the class T of a mobile object needs a default constructor
// error: write `T() = default;` in it
// error: T = cell
#include <nacre/nacre.hpp>

struct cell {
#ifdef FIXED
  cell() = default;
#endif
  explicit cell(int filled) : size(filled) {}
  int size = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(size);
  }
};

void make(nacre::runtime& rt) { rt.create<cell>(3); }
