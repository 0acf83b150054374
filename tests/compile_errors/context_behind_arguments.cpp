// SPDX-License-Identifier: Apache-2.0
// A handler whose context does not come first.
//
// error: a handler takes nacre::context& as its first parameter, or none
// lines at most: 40
#include <nacre/nacre.hpp>

#ifdef FIXED
void look(nacre::context&, int) {}
#else
void look(int, nacre::context&) {}
#endif

void send(nacre::runtime& rt) { rt.send<look>(nacre::rank_id(0), 1); }
