// SPDX-License-Identifier: Apache-2.0
// A handler that would change what its sender has.
//
// error: a handler gets copies of what was sent: write T or const T& instead of T&
// lines at most: 40
#include <vector>

#include <nacre/nacre.hpp>

#ifdef FIXED
void look(const std::vector<int>&) {}
#else
void look(std::vector<int>& values) { values.clear(); }
#endif

void send(nacre::runtime& rt) { rt.send<look>(nacre::to_all, std::vector<int>{1}); }
