// SPDX-License-Identifier: Apache-2.0
// A message with an argument of another type than the handler's parameter.
//
// error: an argument does not fit the parameter of the handler that stands in its place
// lines at most: 40
#include <string>

#include <nacre/nacre.hpp>

#ifdef FIXED
void look(const std::string&) {}
#else
void look(int) {}
#endif

void send(nacre::runtime& rt) { rt.send<look>(nacre::rank_id(0), std::string("seven")); }
