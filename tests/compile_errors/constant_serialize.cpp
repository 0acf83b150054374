// SPDX-License-Identifier: Apache-2.0
// A serialize that cannot read, because it is const.
//
// error: serialize serves both directions, so it is not const itself
// lines at most: 24
#include <nacre/nacre.hpp>

struct counter {
  long value = 0;
  void add(long n) { value += n; }
  template <class Archive>
#ifdef FIXED
  void serialize(Archive& ar)
#else
  void serialize(Archive& ar) const
#endif
  {
    ar(value);
  }
};

void make(nacre::runtime& rt) { rt.send<&counter::add>(rt.create<counter>(), 1); }
