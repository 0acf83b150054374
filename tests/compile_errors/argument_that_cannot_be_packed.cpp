// SPDX-License-Identifier: Apache-2.0
// A message with an argument that only means something here.
//
// error: a pointer, reference or iterator means nothing on another rank
#include <nacre/nacre.hpp>

#ifdef FIXED
void look(int) {}
void send(nacre::runtime& rt, int value) { rt.send<look>(nacre::to_all, value); }
#else
void look(int*) {}
void send(nacre::runtime& rt, int value) { rt.send<look>(nacre::to_all, &value); }
#endif
