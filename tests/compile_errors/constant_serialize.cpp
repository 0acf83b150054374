// SPDX-License-Identifier: Apache-2.0
// A serialize that cannot read, because it is const.
//
// error: serialize serves both directions, so it is not const itself
// lines at most: 24
#include <nacre/nacre.hpp>

#ifdef FIXED
#define CONST
#else
#define CONST const
#endif

struct counter {
  long value = 0;
  void add(long n) { value += n; }
  template <class Archive>
  void serialize(Archive& ar) CONST {
    ar(value);
  }
};

void make(nacre::runtime& rt) { rt.send<&counter::add>(rt.create<counter>(), 1); }
