// SPDX-License-Identifier: Apache-2.0
// A call of a handler that returns a reference to what it has.
//
// error: let the handler return T instead of T&
// lines at most: 14
#include <string>

#include <nacre/nacre.hpp>

std::string name;

#ifdef FIXED
std::string name_there() { return name; }
#else
std::string& name_there() { return name; }
#endif

std::string ask(nacre::runtime& rt) { return rt.call<name_there>(nacre::rank_id{1}).get(); }
