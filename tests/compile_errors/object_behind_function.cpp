// SPDX-License-Identifier: Apache-2.0
// An object of the program itself where its mobile_ptr is meant.
//
// error: write send<&T::f>(pointer, ...)
// error: write call<&T::f>(pointer, ...)
// lines at most: 24
#include <nacre/nacre.hpp>

struct counter {
  long value = 0;
  void add(long n) { value += n; }
  long get() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

#ifdef FIXED
nacre::mobile_ptr<counter> made_by(nacre::runtime& rt) { return rt.create<counter>(); }
#else
counter made_by(nacre::runtime&) { return {}; }
#endif

long ask(nacre::runtime& rt) {
  auto one = made_by(rt);
  rt.send<&counter::add>(one, 1);
  return rt.call<&counter::get>(one).get();
}
