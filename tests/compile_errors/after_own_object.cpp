// SPDX-License-Identifier: Apache-2.0
// An object that sends itself a message later, by itself and not by its pointer.
//
// error: in a handler of the object the pointer is ctx.self<T>()
// lines at most: 24
#include <nacre/nacre.hpp>

struct cell {
  void tick(nacre::context& ctx, int number) {
#ifdef FIXED
    ctx.after<&cell::tick>(0.01, ctx.self<cell>(), number + 1);
#else
    ctx.after<&cell::tick>(0.01, *this, number + 1);
#endif
  }
  template <class Archive>
  void serialize(Archive&) {}
};

void start(nacre::runtime& rt) { rt.send<&cell::tick>(rt.create<cell>(), 1); }
