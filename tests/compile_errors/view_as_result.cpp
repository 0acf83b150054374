// SPDX-License-Identifier: Apache-2.0
// A call of a handler that returns a view of what it has.
//
// error: instead of a view
// lines at most: 20
#include <string>
#include <string_view>

#include <nacre/nacre.hpp>

std::string name;

#ifdef FIXED
std::string name_there() { return name; }
#else
std::string_view name_there() { return name; }
#endif

std::string ask(nacre::runtime& rt) { return std::string(rt.call<name_there>(nacre::rank_id{1}).get()); }
